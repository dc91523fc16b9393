// Package nameglob matches file names with patterns of literals, * and ?. It
// converts a regular expression to such patterns if it is equivalent to a few
// literals: those are found in tables, and can be compared with each other.
//
//	nameglob.New("*.pdf").Match("a.pdf")
//	nameglob.FromRegexp(`\.(pdf|docx?)$`) // *.pdf, *.doc and *.docx
package nameglob
