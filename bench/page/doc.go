// Package page tests the HTML page of `caddy robots audit` in a browser. The tests need
// Chromium. With `go test -artifacts`, they keep screenshots and a PDF of the page.
package page
