// Package page opens the report of an audit in a browser. Its tests need
// Chromium. They leave pictures of the page, and its print, where
// `go test -artifacts` keeps such files.
package page
