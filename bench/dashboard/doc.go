// Package dashboard tests the dashboard in Chromium, with a running server.
package dashboard
