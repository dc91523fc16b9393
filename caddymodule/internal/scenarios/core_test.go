//go:build core

package scenarios_test

import _ "github.com/caddy-robots/caddy-robots/caddymodule"

const everything = false
