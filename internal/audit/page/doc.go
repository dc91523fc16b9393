// Package page writes the report of an audit as an HTML page. The page is one file. It
// loads nothing from the network, has a strict Content-Security-Policy and no script, and
// can be printed.
//
//	err := page.Write(file, report)
//
// All text in a report may have been written by strangers. The page escapes it, shows
// invisible characters as escapes, and cuts texts after 400 characters and tables after
// 500 rows.
package page
