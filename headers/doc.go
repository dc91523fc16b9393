// Package headers reads and writes X-Robots-Tag, the header field that tells
// crawlers what they may do with a response: not to index it, to show no
// snippet of it, to forget it after a date. It says what robots.txt can't.
//
// Rules add the field to responses, by file name, path, media type or status:
//
//	rule, err := headers.ParseRule([]string{"*.pdf", "noindex,", "nofollow"})
//	rules, err := headers.Compile([]headers.Rule{rule})
//	match := rules.Match(r.RequestURI)          // before the handler runs
//	match.Apply(w.Header(), http.StatusOK, nil) // when it writes its header
//
// Without rules: ParseDirectives reads what an operator writes, with errors;
// ReadDirectives and ReadTags read what others wrote, as crawlers do; AddTags
// adds to a header, and the more restrictive directive wins.
//
// Beside that, HeadScanner finds the robots meta tags in the head of a document
// that arrives piece by piece, Signals are the lines of robots.txt that have a
// header form, and Import converts the rules of Apache and nginx.
//
// The package uses the standard library only. It knows nothing of robots.txt but
// the syntax of its paths, reads no User-Agent, and keeps no one from fetching
// anything.
package headers
