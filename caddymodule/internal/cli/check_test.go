package cli_test

import (
	"testing"

	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/fileserver" // the directive file_server

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

func TestVersion(t *testing.T) {
	if _, out, _ := commandline.Run("", "--version"); out != "caddy-robots devel\n" {
		t.Errorf("%q", out)
	}
}

func TestCheckPrints(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"check-other-scheme-with-password", 1, "check -a GPTBot -r ftp://user:secret@HOST/robots.txt /", ""},
		{"check", 2, "check -a bingbot -r pace.txt / /private/x /private/press/", ""},
		{"check-json", 2, "check -a bingbot -r pace.txt --json / /private/x", ""},
		{"check-before", 2, "check -a Googlebot -r - --before clean.txt /archive/x /private/x", "User-agent: *\nDisallow: /archive/\nDisallow: /private/\n"},
		{"check-before-json", 0, "check -a Googlebot -r - --before clean.txt --json /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-other", 2, "check -a GPTBot -r - --before clean.txt /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-all", 0, "check -a GPTBot -r - --before clean.txt --grace all /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-unknown", 1, "check -a GPTBot -r pace.txt --before clean.txt --grace some /archive/x", ""},
		{"check-before-none", 0, "check -a Googlebot --before EMPTY/robots.txt SITE/private/", ""},
		{"check-max", 0, "check -a bingbot -r pace.txt --json --max-crawl-delay 1h /", ""},
		{"check-star", 2, "check -a anybot/1.0 -r pace.txt / //private/x /private/press/kit", ""},
		{"check-delay-unread", 0, "check -a Googlebot -r pace.txt /", ""},
		{"check-strict", 0, "check -a Googlebot -r pace.txt --strict /", ""},
		{"check-person", 0, "check -a Firefox/140.0 -r pace.txt /private/", ""},
		{"check-library", 0, "check -a curl/8.5.0 -r pace.txt /private/", ""},
		{"check-library-held", 2, "check -a curl/8.5.0 -r pace.txt --http-clients /private/", ""},
		{"check-empty-agent", 2, "check --agent= --http-clients -r - / /private/", "User-agent: *\nDisallow: /private/\n"},
		{"check-stdin", 2, "check -a GPTBot -r - /a", "User-agent: GPTBot\nDisallow: /\n"},
		{"check-site", 2, "check -a GPTBot SITE/private/ SITE/", ""},
		{"check-monitor", 2, "check -a CCBot -c monitor.caddyfile https://www.example.com/private/ https://www.example.com/", ""},
		{"check-no-robots", 0, "check -a GPTBot EMPTY/private/", ""},
		{"check-404", 1, "check -a GPTBot -r EMPTY/robots.txt /", ""},
		{"check-500", 1, "check -a GPTBot -r SITE/failing/robots.txt /", ""},
		{"check-html", 1, "check -a GPTBot -r page.html /", ""},
		{"check-binary", 1, "check -a GPTBot -r binary.dat /", ""},
		{"check-path-alone", 1, "check -a GPTBot /private/", ""},
		{"check-misspelt", 1, "check -a GPTBto -r pace.txt /private/", ""},
		{"check-misspelt-json", 1, "check -a googelbot -r pace.txt --json /private/", ""},
		{"check-misspelt-in-file", 1, "check -a Acmebto -r - /a", "User-agent: AcmeBot\nDisallow: /\n"},
		{"check-unknown", 1, "check -a Zzzzzzzzzzzzzz -r pace.txt /private/", ""},
		{"check-unknown-user-agent", 0, "check -a GPTBto/1.0 -r pace.txt /private/", ""},
		{"check-in-file", 2, "check -a gptbto -r - /a", "User-agent: GPTBto\nDisallow: /\n"},
		{"check-registry-name", 1, "check -a Seekport -r pace.txt /private/", ""},
		{"check-control-only", 2, "check -a Google-Extended -r pace.txt /private/", ""},
		{"check-shed", 0, "check -a GPTBot -c shed.caddyfile -r pace.txt /", ""},
		{"check-shed-json", 0, "check -a GPTBot -c shed.caddyfile -r pace.txt --json /", ""},
		{"check-shed-never", 0, "check -a curl -c shed.caddyfile -r pace.txt /", ""},
		{"check-no-agent", 1, "check -r pace.txt /", ""},
	})
}

// check with a configuration that has several sites, or a site with several handlers.
func TestCheckWithSeveralHandlers(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
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
	})
}

// A path needs no --robots if the site's root folder has a robots.txt.
func TestCheckReadsTheFileInTheRoot(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"check-root", 2, "check -a GPTBot -c root.caddyfile --site static.example.com /private/x /%zz", ""},
		{"check-root-json", 0, "check -a bingbot -c root.caddyfile --site static.example.com --json /", ""},
		{"check-root-none", 1, "check -a GPTBot -c root.caddyfile --site app.example.com /private/x", ""},
		{"check-root-several", 1, "check -a GPTBot -c root.caddyfile --site several.example.com /private/x", ""},
	})
}
