// Package selection has the robots handlers of a configuration file, and the flags with
// which a command selects one: --config, --site and --handler.
//
// It uses the Caddy module only through the interface Module, because the module imports
// the commands.
package selection
