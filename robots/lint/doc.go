// Package lint finds mistakes in robots.txt files: lines that do not do what
// they were written for, lines that some crawlers read differently, and lines
// that could be simpler. A finding has a suggestion what to write instead. Fix
// makes the safe corrections, which change no verdict and no limit, and on
// request the unsafe ones, which may change them for some crawlers (see Grade).
//
//	f := robots.Parse(data)
//	for _, x := range lint.Lint(f) {
//		fmt.Printf("%d:%d: %s: %s [%s]\n", x.Line, x.Column, x.Severity, x.Message, x.Code)
//	}
//
// Each finding has the code of a check. Checks returns all checks; each has a page
// that explains it. A comment in the file can suppress findings: see
// Suppression.
//
// The caller provides information about crawlers (see WithCrawlers). Without
// it, checks that depend on a crawler's name report nothing. The package does
// not read files from disk or from the network.
package lint
