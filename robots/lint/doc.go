// Package lint finds mistakes in robots.txt files: lines that do not do what
// they were written for, lines that crawlers read differently, and lines that
// could be simpler. It says what to write instead, and Fix makes the
// corrections that change no verdict.
//
//	f := robots.Parse(data)
//	for _, x := range lint.Lint(f) {
//		fmt.Printf("%d:%d: %s: %s [%s]\n", x.Line, x.Column, x.Severity, x.Message, x.Code)
//	}
//
// Each finding has the code of a rule; Rules returns all of them, each with a
// page that explains it. A comment in the file suppresses findings: see
// Suppression.
//
// What is known of crawlers comes from the caller (see Crawlers): without it,
// the rules about crawlers by name find nothing. The package reads no files and
// knows nothing of enforcement.
package lint
