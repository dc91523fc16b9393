// Package headers reads and writes X-Robots-Tag. This header field tells
// crawlers what they may do with a response: for example not to index it, to
// show no snippet of it, or to drop it from the index after a date. A
// robots.txt file can't express this.
//
// Rules add the field to responses, by file name, path, media type or status:
//
//	rule, err := headers.ParseRule([]string{"*.pdf", "noindex,", "nofollow"})
//	rules, err := headers.Compile([]headers.Rule{rule})
//	match := rules.Match(r.RequestURI)          // before the handler runs
//	match.Apply(w.Header(), http.StatusOK, nil) // when it writes its header
//
// The package can also be used without rules. ParseDirectives parses directives
// that an operator wrote, and returns errors. ReadDirectives and ReadTags parse
// directives of other sources as crawlers do, without errors. AddTags adds tags
// to a header; if directives contradict each other, the more restrictive one
// wins.
//
// HeadScanner finds robots meta tags in the head of a document that is read in
// pieces. Signals sends lines of robots.txt, such as Content-Signal, as header
// fields. Import converts existing Apache and nginx rules.
//
// The package uses only the standard library. It does not parse robots.txt
// files, does not read the User-Agent field, and blocks no requests.
package headers
