// Package cli has the commands below `caddy robots`.
//
// It uses the Caddy module only through the interface Module, because the
// module imports this package to register the commands.
package cli
