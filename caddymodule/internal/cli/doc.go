// Package cli has `caddy robots`, and its commands check and status. Package commands adds
// the others.
package cli
