// Package headers reads and writes the response header field X-Robots-Tag. The
// field restricts what crawlers may do with a response: for example, they must
// not index it, must not show a snippet of it, or must remove it from their
// index after a date. A robots.txt file can't express this.
//
// Rules add the field to responses, selected by file name, path, media type or
// status:
//
//	setting, err := headers.ParseSetting([]string{"*.pdf", "noindex,", "nofollow"})
//	table, err := headers.Compile([]headers.Setting{setting})
//	match := table.Match(r.RequestURI)          // before the handler runs
//	match.Apply(w.Header(), http.StatusOK, nil) // when it writes its header
//
// The package can also be used without rules. ParseDirectives parses directives
// that an operator wrote, and returns errors. ReadDirectives and ReadTags parse
// directives from other sources as crawlers do, without errors. AddTags adds
// tags to a header; if directives contradict each other, it keeps the more
// restrictive one.
//
// Signals sends lines of robots.txt, such as Content-Signal, as header fields.
//
// The package uses only the standard library. It does not parse robots.txt
// files, does not read the User-Agent field, and does not block requests.
package headers
