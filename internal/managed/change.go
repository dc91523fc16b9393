package managed

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Changed returns a short description of how the policy's lines differ between
// two merged files: the crawlers with a new group, without a group any longer,
// and with other rules. It names at most ten crawlers of each kind. It returns
// "" if the rules are the same.
func Changed(before, after []byte) string {
	was, is := rulesByToken(before), rulesByToken(after)
	var added, removed, other, parts []string
	for _, token := range slices.Sorted(maps.Keys(is)) {
		if rules, both := was[token]; !both {
			added = append(added, token)
		} else if rules != is[token] {
			other = append(other, token)
		}
	}
	for _, token := range slices.Sorted(maps.Keys(was)) {
		if _, both := is[token]; !both {
			removed = append(removed, token)
		}
	}
	for i, list := range [][]string{added, removed, other} {
		if len(list) > 0 {
			parts = append(parts, []string{"new: ", "no longer named: ", "other rules: "}[i]+words.List(list, 10))
		}
	}
	return strings.Join(parts, "; ")
}

// rulesByToken returns, for each token in the policy's lines of a merged file,
// the text of its rules.
func rulesByToken(text []byte) map[string]string {
	inside := false
	var section strings.Builder
	for l := range robots.Parse(text).Lines() {
		switch mark := strings.TrimSpace(l.Raw); {
		case mark == beginMarker, mark == endMarker:
			inside = mark == beginMarker
		case inside:
			section.WriteString(l.Raw + "\n")
		}
	}
	f := robots.Parse([]byte(section.String()))
	list := map[string]string{}
	for _, token := range f.Tokens() {
		list[token] = rulesText(f.Named(token))
	}
	if star := f.Star(); star != nil {
		list["*"] = rulesText(star)
	}
	return list
}

// rulesText returns a group's rules and limits as a text. Equal texts mean equal
// verdicts.
func rulesText(g *robots.Group) string {
	var lines []string
	for _, r := range g.Rules() {
		lines = append(lines, r.String())
	}
	var limits body
	limits.pace(g)
	for _, e := range limits.entries {
		lines = append(lines, e.text)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // a rule that is repeated changes nothing
	return strings.Join(lines, "\n")
}
