package policy_test

import (
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver" // the directive file_server

	_ "github.com/caddy-robots/caddy-robots/caddymodule"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/policy"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// A site can have several handlers, of which one has a policy, or none.
func TestCommandWithSeveralHandlers(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"policy-handlers", 1, "policy -c handlers.caddyfile", ""},
		{"policy-handlers-none", 1, "policy -c handlers.caddyfile --site blog.example.com", ""},
	})
}
