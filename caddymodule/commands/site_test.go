package commands_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// Commands that use a site of a configuration, if it has several sites, or a site
// with several handlers.
func TestCommandsWithSeveralHandlers(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"audit-handlers-matcher", 0, "audit -c places.caddyfile --full LOGS/caddy.log", ""},
		{"audit-handlers", 0, "audit -c handlers.caddyfile LOGS/caddy.log", ""},
		{"audit-handlers-site", 1, "audit -c handlers.caddyfile --site shop.example.com LOGS/combined.log", ""},
		{"audit-handlers-one", 0, "audit -c handlers.caddyfile --site shop.example.com --handler 2 LOGS/combined.log", ""},
	})
}
