// Package page writes the report of an audit as an HTML page. The page is one file. It
// loads nothing from the network, has a strict Content-Security-Policy, and can be
// printed.
//
//	err := page.Write(file, report)
//
// All text in a report may have been written by strangers. The page escapes it, shows
// invisible characters as escapes, and cuts long text, such as lines and User-Agents to
// 400 characters. Each list has an upper limit, such as 1,000 crawlers and 3,000 lines of
// robots.txt files. The page says what it leaves out.
//
// The charts are inline SVG. The script of the page only sorts and filters tables and
// shows tooltips: without it, the page shows the same figures.
package page
