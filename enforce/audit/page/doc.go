// Package page writes the report of an audit as a page for a browser: one HTML
// file that loads nothing, runs under a strict Content-Security-Policy, and
// prints.
//
//	err := page.Write(file, report)
//
// All text in a report may come from strangers. It is escaped, characters that
// can't be seen are written as escapes, and long text is cut. The page has a
// bounded size whatever the report: the bounds stand in bounds.go, and the
// page says what it leaves out.
//
// Charts are inline SVG, drawn here from the report's figures; the script of
// the page sorts and filters tables and shows tooltips, and nothing is lost
// without it.
package page
