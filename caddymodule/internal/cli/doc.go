// Package cli has the commands below `caddy robots`.
package cli
