// Package dashboard tests the dashboard in a browser, against a running server.
package dashboard
