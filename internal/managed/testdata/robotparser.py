# Compares what Python's urllib.robotparser reads in pairs of files. Standard
# input has one JSON object: "pairs", a list of {"name", "before", "after"};
# "outside" and "inside", the product tokens of crawlers that a policy leaves
# alone and denies; and "paths". It prints each difference on a line.
import json
import sys
from urllib.robotparser import RobotFileParser


def parser(text):
    p = RobotFileParser()
    p.parse(text.splitlines())
    p.modified()
    return p


cases = json.load(sys.stdin)
# This parser looks for the token of a group anywhere in the crawler's name, so
# to it, a group for Example applies to ExampleBot too.
inside = [t.lower() for t in cases["inside"]]
outside = [t for t in cases["outside"] if not any(i in t.lower() for i in inside)]
for pair in cases["pairs"]:
    before, after = parser(pair["before"]), parser(pair["after"])
    for path in cases["paths"]:
        for token in outside:
            was, now = before.can_fetch(token, path), after.can_fetch(token, path)
            if was != now:
                print(f'{pair["name"]}: {token} {path}: {was}, then {now}')
        for token in pair["denied"] or []:
            own = any(u.split("/")[0].lower() in token.lower() for e in before.entries for u in e.useragents)
            if not own and after.can_fetch(token, path):
                print(f'{pair["name"]}: {token} {path}: not denied')
print(len(cases["pairs"]), "pairs,", len(outside), "tokens,", len(cases["paths"]), "paths")
