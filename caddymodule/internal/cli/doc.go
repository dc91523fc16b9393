// Package cli has the commands below `caddy robots`.
//
// It knows the Caddy module only through the interface Module, because the
// module registers the commands.
package cli
