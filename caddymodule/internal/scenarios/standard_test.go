//go:build !core

package scenarios_test

import _ "github.com/caddy-robots/caddy-robots/caddymodule/standard"

// everything says that the plugin has all steps and commands.
const everything = true
