// Package robots parses robots.txt files, matches URLs against their rules, and
// writes such files. It supports RFC 9309, the older standards, and the
// extensions that real files use.
//
// To ask whether a crawler may fetch a URL:
//
//	f := robots.Parse(data)
//	if f.Allowed("ExampleBot", "https://example.com/private/x.html") { … }
//
// If a crawler obeys several product tokens, pass the most specific one first.
// The verdict has the rule that decided and its line:
//
//	v := f.Match("/private/x.html", "Googlebot-Image", "Googlebot")
//	if !v.Allowed {
//		log.Printf("disallowed by line %d: %s", v.Rule().Line, v.Rule())
//	}
//
// To check many URLs, look up the crawler's group once with File.Group. Then
// call Group.Match for each URL, and Group.CrawlDelay and similar methods for
// the limits. A server that enforces a file calls Group.MatchViews: it also
// checks the path in the form in which the server decodes it. So a client can't
// avoid a rule by another spelling of the path.
//
// No input makes the parser fail or panic: it ignores lines that it does not
// know. Parse also compiles the rules, so a match allocates nothing, and its
// time depends on the length of the URL and not on the number of rules. There
// is one exception: if thousands of rules are divided by `*` into many parts
// each, a match takes longer if the URL contains many of these parts. Files and
// groups are immutable and safe for concurrent use.
//
// The package does not fetch files, does not identify the crawler that sent a
// request, and does not count requests. Package diff compares two files.
// Package lint finds mistakes in a file.
package robots
