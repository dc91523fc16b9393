package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that use a site of a configuration, if it has several sites, or a site
// with several handlers.
func TestCommandsWithSeveralHandlers(t *testing.T) {
	runGoldens(t, []goldenTest{
		{"check-handlers", 2, "check -a curl/8.5.0 -c handlers.caddyfile https://shop.example.com/private/x https://shop.example.com/", ""},
		{"check-handlers-json", 2, "check -a bingbot -c handlers.caddyfile --site shop.example.com --json /private/x", ""},
		{"check-handlers-stdin", 0, "check -a bingbot -c handlers.caddyfile --site shop.example.com -r - /private/x", "User-agent: *\nAllow: /\n"},
		{"check-handlers-one", 0, "check -a curl/8.5.0 -c handlers.caddyfile --handler 2 https://shop.example.com/private/x", ""},
		{"check-handlers-site-of-url", 2, "check -a bingbot -c handlers.caddyfile http://blog.example.com/x https://blog.example.com/x", ""},
		{"check-handlers-any-host", 0, "check -a bingbot -c handlers.caddyfile --site * /x", ""},
		{"check-handlers-path", 1, "check -a bingbot -c handlers.caddyfile /x", ""},
		{"check-handlers-unknown-site", 1, "check -a bingbot -c audit.caddyfile --site other.example.com /x", ""},
		{"check-handlers-unknown-host", 1, "check -a bingbot -c policy.Caddyfile -r pace.txt https://other.example.com/x", ""},
		{"check-policy", 2, "check -a CCBot -c policy.Caddyfile -r pace.txt https://example.com/x", ""},
		{"check-policy-json", 2, "check -a CCBot -c policy.Caddyfile -r pace.txt --json https://example.com/x", ""},
		{"check-handlers-unknown-host-of-several", 1, "check -a bingbot -c audit.caddyfile -r pace.txt https://other.example.com/x", ""},
		{"check-handlers-unknown-number", 1, "check -a bingbot -c handlers.caddyfile --site shop.example.com --handler 3 /x", ""},
		{"check-exempt", 2, "check -a GTmetrix -c handlers.caddyfile --site shop.example.com --handler 1 /private/x", ""},
		{"check-exempt-client", 0, "check -a GTmetrix -c handlers.caddyfile --site shop.example.com --handler 1 --client 2001:db8:7::1 /private/x", ""},
		{"check-exempt-other-client", 2, "check -a GTmetrix -c handlers.caddyfile --site shop.example.com --handler 1 --client 192.0.2.1 --json /private/x", ""},
		{"check-client-name", 1, "check -a GTmetrix -r pace.txt --client localhost /", ""},
		{"check-site-alone", 1, "check -a GTmetrix -r pace.txt --site shop.example.com /", ""},
		{"check-handlers-servers", 2, "check -a bingbot -c handlers.caddyfile --site blog.example.com /x", ""},
		{"check-handlers-servers-json", 2, "check -a bingbot -c handlers.caddyfile --site blog.example.com --json /x", ""},
		{"check-unreached", 2, "check -a bingbot -c places.caddyfile https://after.example.com/private/x", ""},
		{"check-unreached-json", 2, "check -a bingbot -c places.caddyfile --json https://after.example.com/private/x", ""},
		{"check-inline", 2, "check -a bingbot -c places.caddyfile -r clean.txt https://two.example.com/feed/private/x https://two.example.com/feed/", ""},
		{"audit-handlers-matcher", 0, "audit -c places.caddyfile --full LOGS/caddy.log", ""},
		{"policy-handlers", 1, "policy -c handlers.caddyfile", ""},
		{"policy-handlers-none", 1, "policy -c handlers.caddyfile --site blog.example.com", ""},
		{"audit-handlers", 0, "audit -c handlers.caddyfile LOGS/caddy.log", ""},
		{"audit-handlers-site", 1, "audit -c handlers.caddyfile --site shop.example.com LOGS/combined.log", ""},
		{"audit-handlers-one", 0, "audit -c handlers.caddyfile --site shop.example.com --handler 2 LOGS/combined.log", ""},
	})
}

// A path needs no --robots if the site's root folder has a robots.txt.
func TestCheckReadsTheFileInTheRoot(t *testing.T) {
	runGoldens(t, []goldenTest{
		{"check-root", 2, "check -a GPTBot -c root.caddyfile --site static.example.com /private/x /%zz", ""},
		{"check-root-json", 0, "check -a bingbot -c root.caddyfile --site static.example.com --json /", ""},
		{"check-root-none", 1, "check -a GPTBot -c root.caddyfile --site app.example.com /private/x", ""},
		{"check-root-several", 1, "check -a GPTBot -c root.caddyfile --site several.example.com /private/x", ""},
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
	if status, _, stderr := runCommand("", args...); status != 0 || !strings.Contains(stderr, more) {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if status, _, stderr := runCommand("", append(args, "--full")...); status != 0 || strings.Contains(stderr, more) {
		t.Errorf("--full: exit status %d: %s", status, stderr)
	}
}
