// Package robots is the language of robots.txt: RFC 9309, what came before
// it, and what real files have on top of it.
//
// To ask whether a crawler may fetch a URL:
//
//	f := robots.Parse(data)
//	if f.Allowed("ExampleBot", "https://example.com/private/x.html") { … }
//
// A crawler that obeys several product tokens, the most specific first, and
// wants to know which line decided:
//
//	v := f.Match("/private/x.html", "Googlebot-Image", "Googlebot")
//	if !v.Allowed {
//		log.Printf("disallowed by line %d: %s", v.Line(), v.Rule)
//	}
//
// For many URLs, look the group up once: File.Group returns it, Group.Match
// asks it, Group.CrawlDelay and others tell its limits. A server that enforces
// a file asks Group.MatchViews, so that no other spelling of a path that it
// would serve slips through.
//
// Where the file comes from: Parse takes octets, Read a reader, FromResponse
// the status and body of an HTTP response. Location gives the address of the
// robots.txt for a URL, and Covers tells whether a robots.txt is for a URL.
// Builder writes a file.
//
// No input makes any of these fail or panic: lines that are no part of the
// language do nothing. A file is compiled when it is parsed: a match allocates
// nothing, and its cost follows the length of the URL, not the number of rules.
// Only thousands of rules that have many `*` each, and whose first parts the URL
// has, cost time for each of these parts.
// Files and groups are immutable and safe for concurrent use.
//
// What the package does not do: it fetches nothing, it does not find out which
// crawler sent a request, and it does not count requests. Package diff compares
// two files, package lint finds mistakes in one.
package robots
