package caddymodule_test

// The pages describe the plugin with all steps.
import _ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
