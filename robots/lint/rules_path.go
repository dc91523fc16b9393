package lint

import (
	"fmt"
	"strings"
)

// pathRules are about the paths of Allow and Disallow lines.
var pathRules = []Rule{
	{Code: "missing-slash", Severity: Error, Title: "the path does not start with a slash",
		Why:     "paths start with a slash, so the rule never matches",
		Readers: "RFC 9309, section 2.2.2: a path starts with a slash; Google also accepts a * there",
		Before:  "User-agent: *\nDisallow: private/\nDisallow: .pdf$\n", After: "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n"},
	{Code: "inverted-syntax", Severity: Error, Title: "the rule names a crawler where a path belongs",
		Why:     "the rule never matches. To shut out one crawler, name it on a User-agent line and disallow /",
		Readers: "RFC 9309, section 2.2.2: a rule holds a path",
		Before:  "User-agent: *\nDisallow: Googlebot\n", After: "User-agent: Googlebot\nDisallow: /\n"},
	{Code: "url-as-path", Severity: Error, Title: "the rule holds a URL where a path belongs",
		Why:     "the rule never matches. Rules hold paths, and are for the host that the file is on",
		Readers: "RFC 9309, section 2.2.2: a path starts with a slash",
		Before:  "User-agent: *\nDisallow: https://www.example.com/private/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "several-paths", Severity: Error, Title: "the rule holds several paths",
		Why:     "crawlers read the value as one path with blanks in it, which matches nothing",
		Readers: "RFC 9309, section 2.2.2: one path a line. Only readers of the dialect of 1996 accept several",
		Before:  "User-agent: *\nDisallow: /a /b\n", After: "User-agent: *\nDisallow: /a\nDisallow: /b\n"},
	{Code: "blank-in-path", Severity: Warning, Title: "the path has a blank in it",
		Why:     "URLs have %20 there. Crawlers that do not encode the rule never match it",
		Readers: "RFC 9309, section 2.2.2 has both sides encoded before they are compared. Google's parser does not encode blanks",
		Before:  "User-agent: *\nDisallow: /my files/\n", After: "User-agent: *\nDisallow: /my%20files/\n"},
	{Code: "disallow-star", Severity: Info, Title: "the path is *, which means the same as /",
		Why:     "older readers take * for an ordinary character and never match the rule. Every reader understands /",
		Readers: "wget, HTTrack, LWP, linkchecker and urllib know no *",
		Before:  "User-agent: examplebot\nDisallow: *\n", After: "User-agent: examplebot\nDisallow: /\n"},
	{Code: "trailing-star", Severity: Info, Title: "the path ends in *, which adds nothing",
		Why:     "a rule covers everything that starts with its path. Older readers take the * for an ordinary character and never match the rule",
		Readers: "RFC 9309, section 2.2.2 and Google match from the start of the path. wget, HTTrack, LWP, linkchecker and urllib know no *",
		Before:  "User-agent: *\nDisallow: /private/*\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "regular-expression", Severity: Warning, Title: "the path looks like a regular expression",
		Why:     "only * and a $ at the end are special. All other characters match only themselves, so the rule covers other paths than it seems to, or none",
		Readers: "RFC 9309, section 2.2.3",
		Before:  "User-agent: *\nDisallow: /archive/.*\\.html\n", After: "User-agent: *\nDisallow: /archive/*.html\n"},
	{Code: "dollar-within", Severity: Warning, Title: "a $ stands near the end of the path, but not at the end",
		Why:     "$ marks the end of a path only as the last character. Here it matches a $ in the URL, so the rule mostly matches nothing",
		Readers: "RFC 9309, section 2.2.3",
		Before:  "User-agent: *\nDisallow: /*.pdf$/\n", After: "User-agent: *\nDisallow: /*.pdf$\n"},
	{Code: "invalid-escape", Severity: Warning, Title: "the path has a % that is not followed by two hexadecimal digits",
		Why:     "crawlers disagree on what it matches. A percent sign in a path is written %25",
		Readers: "no standard says what such a % means",
		Before:  "User-agent: *\nDisallow: /100%\n", After: "User-agent: *\nDisallow: /100%25\n"},
	{Code: "invisible-character", Severity: Warning, Title: "the path has an invisible character in it",
		Why:     "the rule covers only URLs that have the character too. No-break and zero-width spaces come with text that was copied from a web page",
		Readers: "crawlers encode the character as URLs do (RFC 9309, section 2.2.2) and compare it like any other",
		Before:  "User-agent: *\nDisallow: /private\u200b/\n", After: "User-agent: *\nDisallow: /private/\n"},
	{Code: "unencoded-path", Severity: Info, Title: "the path has characters that URLs encode",
		Why:     "crawlers that do not encode the rule before they compare never match it",
		Readers: "RFC 9309, section 2.2.2 and Google encode the rule. Readers of the standard of 1994 do not",
		Before:  "User-agent: *\nDisallow: /café/\n", After: "User-agent: *\nDisallow: /caf%C3%A9/\n"},
	{Code: "robots-txt-rule", Severity: Info, Title: "the rule is for /robots.txt",
		Why:     "crawlers may always fetch /robots.txt, so the rule has no effect on it",
		Readers: "RFC 9309, section 2.2.2: /robots.txt is always allowed",
		Before:  "User-agent: *\nDisallow: /robots.txt\nDisallow: /a\n", After: "User-agent: *\nDisallow: /a\n"},
}

// overlapRules are about rules of one group that overlap.
var overlapRules = []Rule{
	{Code: "contradiction", Severity: Warning, Title: "Allow and Disallow cover the same paths",
		Why:     "for crawlers that follow RFC 9309 the longer rule decides, and Allow where both are equally long; for older readers the first one does. Keep the one that you mean",
		Readers: "RFC 9309, section 2.2.2: of two rules of the same length, Allow decides. To readers of the standard of 1994 the first rule that matches decides",
		Before:  "User-agent: *\nDisallow: /a\nAllow: /a\n", After: "User-agent: *\nDisallow: /a\n"},
	{Code: "unseen-noindex", Severity: Warning, Title: "a noindex header is sent for a path that is disallowed",
		Why:     "a crawler that may not fetch a page never sees its header, and may list the URL all the same. Allow the path, or remove the header",
		Readers: "Google's and Bing's documentation: a page must be crawled for noindex to be seen. Found with --config, which reads the site's x_robots_tag lines",
		Before:  "User-agent: *\nDisallow: /a\n", After: "User-agent: *\nDisallow: /b\n", external: true},
	{Code: "never-decides", Severity: Warning, Title: "a longer rule decides wherever this one matches",
		Why:     "the rule has no effect",
		Readers: "RFC 9309, section 2.2.2: of the rules that match, the one with the most octets decides",
		Before:  "User-agent: *\nDisallow: /a/\nAllow: /*/\n", After: "User-agent: *\nAllow: /*/\n"},
	{Code: "without-effect", Severity: Info, Title: "without the rule every path has the same verdict",
		Why:     "the rule can go. A shorter file is easier to check",
		Readers: "RFC 9309, section 2.2.2: of the rules that match, the one with the most octets decides",
		Before:  "User-agent: *\nDisallow: /a\nDisallow: /a/b\n", After: "User-agent: *\nDisallow: /a\n"},
	{Code: "allow-after-disallow", Severity: Info, Title: "an exception is after the rule that it limits",
		Why:     "crawlers that follow RFC 9309 ignore the order. Older readers use the first rule that matches and never reach the exception",
		Readers: "the standard of 1994 and urllib use the first rule that matches",
		Before:  "User-agent: *\nDisallow: /a\nAllow: /a/b\n", After: "User-agent: *\nAllow: /a/b\nDisallow: /a\n"},
	{Code: "list-of-files", Severity: Info, Title: "many paths of one folder are disallowed one by one",
		Why:     "a rule covers everything that starts with its path. A list tells everyone what is there, and misses what is added later",
		Readers: "every reader matches from the start of the path",
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
