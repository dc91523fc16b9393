// Package headers speaks X-Robots-Tag, the header field that tells crawlers
// what they may do with a response: everything that robots.txt can't say.
//
// It reads and writes the directives (noindex, max-snippet:50 …), the same
// ones that a robots meta tag has, finds errors in them for the person who
// wrote them, and adds them to responses by rules:
//
//	rule, err := headers.ParseRule([]string{"*.pdf", "noindex,", "nofollow"})
//	rules, err := headers.Compile([]headers.Rule{rule})
//	match := rules.Match(r.RequestURI)         // before the handler runs
//	match.Apply(w.Header(), http.StatusOK, nil) // when it writes its header
//
// It knows nothing of robots.txt but the syntax of its paths, reads no
// User-Agent, and keeps no one from fetching anything.
package headers
