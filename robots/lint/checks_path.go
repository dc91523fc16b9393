package lint

import (
	"fmt"
	"strings"
)

// pathChecks are about the paths of Allow and Disallow lines.
var pathChecks = []Check{
	{Code: "missing-slash", Severity: Error, Title: "the path does not start with a slash",
		Why:     "paths start with a slash, so the rule never matches",
		Readers: "RFC 9309, section 2.2.2: a path starts with a slash; Google also accepts a * there",
		Before:  "User-agent: *\nDisallow: private/\nDisallow: .pdf$\n", After: "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n"},
	{Code: "inverted-syntax", Severity: Error, Title: "the rule has a crawler's name instead of a path",
		Why:     "the rule never matches. To disallow everything to one crawler, name it on a User-agent line and write \"Disallow: /\" below",
		Readers: "RFC 9309, section 2.2.2: the value of a rule is a path",
		Before:  "User-agent: *\nDisallow: Googlebot\n", After: "User-agent: Googlebot\nDisallow: /\n"},
	{Code: "url-as-path", Severity: Error, Title: "the rule has a URL instead of a path",
		Why:     "the rule never matches. The value of a rule is only a path; the rule applies to the host that the file is on",
		Readers: "RFC 9309, section 2.2.2: a path starts with a slash",
		Before:  "User-agent: *\nDisallow: https://www.example.com/private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "several-paths", Severity: Error, Title: "the rule contains several paths",
		Why:     "crawlers read the value as one path, which matches nothing",
		Readers: "RFC 9309, section 2.2.2: one path on a line. Only parsers for the dialect of 1996 accept several",
		Before:  "User-agent: *\nDisallow: /a/, /b/\n", After: "User-agent: *\nDisallow: /a/\nDisallow: /b/\n"},
	{Code: "trailing-separator", Severity: Warning, Title: "the path ends in a comma or a semicolon",
		Why:     "the rule covers only URLs that have this character there, which is rare. Rules need no separator, because each is on a line of its own",
		Readers: "RFC 9309, section 2.2.2: a comma or a semicolon in a path has no special meaning",
		Before:  "User-agent: *\nDisallow: /private/,\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "blank-in-path", Severity: Warning, Title: "the path contains a blank",
		Why:     "URLs have %20 in place of a blank. The rule never matches for crawlers that do not encode it",
		Readers: "RFC 9309, section 2.2.2: crawlers encode the rule and the URL before they compare them. Google's parser does not encode blanks",
		Before:  "User-agent: *\nDisallow: /my files/\n", After: "User-agent: *\nDisallow: /my%20files/\n"},
	{Code: "disallow-star", Severity: Info, Title: "the path is *, which means the same as /",
		Why:     "older parsers read * as an ordinary character, so the rule never matches for them. Every parser understands /",
		Readers: "wget, HTTrack, LWP, linkchecker and urllib do not support *",
		Before:  "User-agent: examplebot\nDisallow: *\n", After: "User-agent: examplebot\nDisallow: /\n"},
	{Code: "trailing-star", Severity: Info, Title: "the path ends in *, which has no effect",
		Why:     "a rule covers everything that starts with its path. Older parsers read the * as an ordinary character, so the rule never matches for them",
		Readers: "RFC 9309, section 2.2.2 and Google match from the start of the path. wget, HTTrack, LWP, linkchecker and urllib do not support *",
		Before:  "User-agent: *\nDisallow: /private/*\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "regular-expression", Severity: Warning, Title: "the path looks like a regular expression",
		Why:     "only * and a $ at the end have a special meaning. All other characters match only themselves, so the rule covers other paths than it seems, or none",
		Readers: "RFC 9309, section 2.2.3",
		Before:  "User-agent: *\nDisallow: /archive/.*\\.html\n", After: "User-agent: *\nDisallow: /archive/*.html\n"},
	{Code: "dollar-within", Severity: Warning, Title: "a $ is near the end of the path, but not at the end",
		Why:     "$ means the end of a path only if it is the last character. Here it matches a $ in the URL, so the rule usually matches nothing",
		Readers: "RFC 9309, section 2.2.3",
		Before:  "User-agent: *\nDisallow: /*.pdf$/\n", After: "User-agent: *\nDisallow: /*.pdf$\n"},
	{Code: "invalid-escape", Severity: Warning, Title: "the path has a % that is not followed by two hexadecimal digits",
		Why:     "crawlers disagree on what it matches. Write %25 for a percent sign",
		Readers: "no standard says what such a % means",
		Before:  "User-agent: *\nDisallow: /100%\n", After: "User-agent: *\nDisallow: /100%25\n"},
	{Code: "invisible-character", Severity: Warning, Title: "the path contains an invisible character",
		Why:     "the rule covers only URLs that contain the character too. Such characters often come from text that was copied from a web page",
		Readers: "crawlers encode the character as URLs do (RFC 9309, section 2.2.2) and compare it like any other",
		Before:  "User-agent: *\nDisallow: /private\u200b/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "unencoded-path", Severity: Info, Title: "the path has characters that URLs encode",
		Why:     "the rule never matches for crawlers that do not encode it before they compare it",
		Readers: "RFC 9309, section 2.2.2 and Google encode the rule. Parsers for the standard of 1994 do not",
		Before:  "User-agent: *\nDisallow: /café/\n", After: "User-agent: *\nDisallow: /caf%C3%A9/\n"},
	{Code: "robots-txt-rule", Severity: Info, Title: "the path of the rule is /robots.txt",
		Why:     "crawlers may always fetch /robots.txt, so the rule has no effect on it",
		Readers: "RFC 9309, section 2.2.2: /robots.txt is always allowed",
		Before:  "User-agent: *\nDisallow: /robots.txt\nDisallow: /a\n", After: "User-agent: *\nDisallow: /a\n"},
}

// overlapChecks are about rules of one group that overlap.
var overlapChecks = []Check{
	{Code: "contradiction", Severity: Warning, Title: "Allow and Disallow cover the same paths",
		Why:     "crawlers that follow RFC 9309 use the longer rule, and Allow if both have the same length. Older parsers use the first rule. Keep the rule that you mean",
		Readers: "RFC 9309, section 2.2.2: of two rules of the same length, Allow decides. In the standard of 1994, the first rule that matches decides",
		Before:  "User-agent: *\nDisallow: /a\nAllow: /a\n", After: "User-agent: *\nDisallow: /a\n"},
	{Code: "unseen-noindex", Severity: Warning, Title: "a noindex header is sent for a path that is disallowed",
		Why:     "a crawler that may not fetch a page never sees its header, so it may still list the URL. Allow the path, or remove the header",
		Readers: "Google and Bing document that they must crawl a page to see its noindex. The linter reports this only with --config, which reads the site's x_robots_tag lines",
		Before:  "User-agent: *\nDisallow: /a\n", After: "User-agent: *\nDisallow: /b\n", external: true},
	{Code: "never-decides", Severity: Warning, Title: "another rule decides on every path that this rule matches",
		Why:     "the rule has no effect",
		Readers: "RFC 9309, section 2.2.2: of the rules that match, the one with the most octets decides",
		Before:  "User-agent: *\nDisallow: /a/\nAllow: /*/\n", After: "User-agent: *\nAllow: /*/\n"},
	{Code: "without-effect", Severity: Info, Title: "without the rule, every path would have the same verdict",
		Why:     "you can remove the rule. A shorter file is easier to check",
		Readers: "RFC 9309, section 2.2.2: of the rules that match, the one with the most octets decides",
		Before:  "User-agent: *\nDisallow: /a\nDisallow: /a/b\n", After: "User-agent: *\nDisallow: /a\n"},
	{Code: "allow-after-disallow", Severity: Info, Title: "an Allow line is below the Disallow line that it limits",
		Why:     "crawlers that follow RFC 9309 ignore the order. Older parsers use the first rule that matches, so they never reach the Allow line",
		Readers: "the standard of 1994 and urllib use the first rule that matches",
		Before:  "User-agent: *\nDisallow: /a\nAllow: /a/b\n", After: "User-agent: *\nAllow: /a/b\nDisallow: /a\n"},
	{Code: "list-of-files", Severity: Info, Title: "many paths of one folder are disallowed one by one",
		Why:     "a rule covers everything that starts with its path. A list shows everyone which files exist, and misses files that are added later",
		Readers: "every parser matches from the start of the path",
		Before:  fileList(), After: "User-agent: *\nDisallow: /folder/\n"},
}

// fileList is a group that disallows the files of a folder one by one.
func fileList() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range manyFiles {
		fmt.Fprintf(&b, "Disallow: /folder/file%02d.html\n", i)
	}
	return b.String()
}
