package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// Commands that use a site of a configuration, if it has several sites, or a site
// with several handlers.
func TestCommandsWithSeveralHandlers(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"audit-handlers-matcher", 0, "audit -c places.caddyfile --full LOGS/caddy.log", ""},
		{"policy-handlers", 1, "policy -c handlers.caddyfile", ""},
		{"policy-handlers-none", 1, "policy -c handlers.caddyfile --site blog.example.com", ""},
		{"audit-handlers", 0, "audit -c handlers.caddyfile LOGS/caddy.log", ""},
		{"audit-handlers-site", 1, "audit -c handlers.caddyfile --site shop.example.com LOGS/combined.log", ""},
		{"audit-handlers-one", 0, "audit -c handlers.caddyfile --site shop.example.com --handler 2 LOGS/combined.log", ""},
	})
}

// Without --full, the changes that a policy makes name only the first crawlers.
func TestPolicyNamesAllCrawlers(t *testing.T) {
	config := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(config, []byte("example.com {\n\trobots {\n\t\tpolicy {\n\t\t\tdeny ai-training seo\n\t\t}\n\t}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"policy", "--config", config}
	const more = "more (--full lists all)"
	if status, _, stderr := commandline.Run("", args...); status != 0 || !strings.Contains(stderr, more) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if status, _, stderr := commandline.Run("", append(args, "--full")...); status != 0 || strings.Contains(stderr, more) {
		t.Errorf("--full: exit status %d: %s", status, stderr)
	}
}
