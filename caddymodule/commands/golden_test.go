package commands_test

import (
	"strings"
	"testing"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// The help of each command ends with this project's documentation.
func TestHelpEndsWithDocumentation(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"lint", "--help"}} {
		if _, out, _ := commandline.Run("", args...); !strings.HasSuffix(out, "/caddy-robots/tree/main/docs\n") {
			t.Errorf("%q ends with %q", args, out[max(0, len(out)-80):])
		}
	}
}

func TestCommandsPrint(t *testing.T) {
	commandline.Goldens(t, []commandline.Golden{
		{"init", 0, "init --config init.json --site example.com --robots init.txt", ""},
		{"init-several", 0, "init --config init.json", ""},
		{"init-url", 0, "init --config init.json --site internal --robots SITE", ""},
		{"init-url-missing", 0, "init --config init.json --site internal --robots SITE/none/robots.txt", ""},
		{"init-url-failing", 1, "init --config init.json --site internal --robots SITE/failing/robots.txt", ""},
		{"init-without-config", 0, "init --robots clean.txt", ""},
		{"init-config-missing", 1, "init --config nothing-here", ""},
		{"init-several-one-robots", 1, "init --config init.json --robots init.txt", ""},
		{"init-any-host", 0, "init --config init.json --site other.test", ""},
		{"init-nothing-left", 1, "init --config tags.caddyfile", ""},

		{"policy-handlers", 1, "policy -c handlers.caddyfile", ""}, // of which one has a policy
		{"policy-handlers-none", 1, "policy -c handlers.caddyfile --site blog.example.com", ""},

		{"lint", 3, "lint mistakes.txt", ""},
		{"lint-json", 3, "lint --json mistakes.txt", ""},
		{"lint-clean", 0, "lint clean.txt", ""},
		{"lint-config", 2, "lint --config tags.caddyfile clean.txt", ""},
		{"lint-config-json", 2, "lint --json --config tags.caddyfile clean.txt", ""},
		{"lint-config-missing", 1, "lint --config nothing-here clean.txt", ""},
		{"lint-clean-json", 0, "lint --json clean.txt", ""},
		{"lint-warning", 2, "lint -", "User-agent: *\nDisallow: /\n"},
		{"lint-info", 0, "lint -", "User-agent: GPTBot/1\nDisallow: /a\n"},
		{"lint-dialect-1994", 0, "lint --dialect 1994 -", "User-agent: *\nDisallow: /a\n"},
		{"lint-several", 3, "lint clean.txt mistakes.txt --json", ""},
		{"lint-url", 0, "lint SITE", ""},
		{"lint-url-redirected", 3, "lint SITE/moved/robots.txt", ""},
		{"lint-url-not-at-root", 3, "lint SITE/blog/robots.txt", ""},
		{"lint-url-with-password", 0, "lint http://user:secret@HOST/robots.txt", ""},
		{"lint-500-with-password", 1, "lint http://user:secret@HOST/failing/robots.txt", ""},

		{"lint-info-shown", 0, "lint --info -", "User-agent: GPTBot/1\nDisallow: /a\n"},
		{"lint-select", 2, "lint --select never-decides,version-in-user-agent mistakes.txt -", "User-agent: GPTBot/1\nDisallow: /a\nDisallow: /a\nDisallow: b\n"},
		{"lint-select-unknown", 1, "lint --select never-decide mistakes.txt", ""},
		{"lint-ignore", 2, "lint --ignore missing-slash -", "User-agent: *\nDissallow: /a\nDisallow: b\n"},
		{"lint-fail-on-error", 0, "lint --fail-on error -", "User-agent: *\nDissallow: /a\n"},
		{"lint-fail-on-info", 2, "lint --fail-on info -", "User-agent: GPTBot/1\nDisallow: /a\n"},
		{"lint-fail-on-never", 0, "lint --fail-on never mistakes.txt", ""},
		{"lint-fail-on-unknown", 1, "lint --fail-on often mistakes.txt", ""},
		{"lint-suppressed", 0, "lint -", "User-agent: *\nDissallow: /a # robots-lint: ignore misspelt-key\n"},
		{"lint-some-missing", 1, "lint clean.txt nothing-here.txt mistakes.txt", ""},
		{"lint-invalid-url-with-password", 1, "lint http://user:sec%zzret@HOST/robots.txt", ""},
		{"lint-odd-port-with-password", 1, "lint http://user:sec/ret@HOST/robots.txt", ""},
		{"lint-other-scheme-with-password", 1, "lint ftp://user:secret@HOST/robots.txt", ""},
		{"lint-dead-url-with-password", 1, "lint http://user:secret@127.0.0.1:1/robots.txt", ""},
		{"lint-json-url-with-password", 3, "lint --json http://user:secret@HOST/blog/robots.txt", ""},

		{"diff-invalid-url-with-password", 1, "diff clean.txt http://user:sec%zzret@HOST/", ""},

		{"explain", 0, "explain missing-slash invisible-character", ""},
		{"explain-unknown", 1, "explain mising-slash", ""},

		{"lint-missing", 1, "lint nothing-here.txt", ""},
		{"lint-500", 1, "lint SITE/failing/robots.txt", ""},
		{"lint-404", 1, "lint EMPTY/robots.txt", ""},
		{"lint-huge", 1, "lint -", strings.Repeat("Disallow: /20-octets\n", 1<<20)},
		{"lint-html", 3, "lint SITE/page/robots.txt", ""},
		{"lint-binary", 3, "lint binary.dat", ""},
		{"lint-folder", 1, "lint .", ""},
		{"lint-unknown-dialect", 1, "lint --dialect 2024 clean.txt", ""},

		{"identify", 0, "identify GPTBot/1.2 AcmeBot/1.0 SiteSweeper/2.0 Stripe/1.0 curl/8.5.0 AdsBot-Google Googlebot/2.1;bingbot/2.0 Firefox/140.0", ""},
		{"identify-http-clients", 0, "identify --http-clients curl/8.5.0", ""},
		{"identify-strict", 0, "identify --strict AdsBot-Google", ""},
		{"identify-robots", 0, "identify --robots ../site/robots.txt MJ12bot curl/8.5.0", ""},
		{"identify-robots-stdin", 0, "identify --robots - Thing9/1.0", "User-agent: Thing9\nDisallow: /\n"},
		{"identify-registry", 0, "identify --registry ../crawlers.jsonl LibHarvest/1.0", ""},
		{"identify-json", 0, "identify --json GPTBot/1.2 Firefox/140.0 curl/8.5.0", ""},
		{"identify-config", 0, "identify --config crawlers.caddyfile our-indexer/1.0 curl/8.5.0", ""},
		{"identify-config-strict", 1, "identify --config crawlers.caddyfile --strict our-indexer/1.0", ""},

		{"diff", 2, "diff old.txt new.txt", ""},
		{"diff-full", 2, "diff --full old.txt new.txt", ""},
		{"diff-json", 2, "diff --json old.txt new.txt", ""},
		{"diff-same", 0, "diff old.txt old.txt", ""},
		{"diff-stdin", 2, "diff - clean.txt", "User-agent: *\nDisallow:\n"},
		{"diff-url", 0, "diff clean.txt SITE", ""},
		{"diff-html", 1, "diff clean.txt page.html", ""},
		{"diff-binary", 1, "diff clean.txt binary.dat", ""},
		{"diff-missing", 1, "diff clean.txt nothing-here.txt", ""},
		{"diff-500", 1, "diff clean.txt SITE/failing/robots.txt", ""},
		{"diff-two-stdins", 1, "diff - -", ""},

		{"audit", 0, "audit -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-json", 0, "audit --json -r AUDIT/robots.txt LOGS/caddy.log", ""},
		{"audit-full", 0, "audit --full -r AUDIT/robots.txt LOGS/vhost-combined.log", ""},
		{"audit-config", 0, "audit -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-config-site", 0, "audit -c audit.caddyfile --site www.example.com LOGS/caddy.log", ""},
		{"audit-config-robots", 0, "audit -c audit.caddyfile -r audit-old.txt LOGS/caddy.log", ""},
		{"audit-config-strict", 1, "audit -c audit.caddyfile --strict LOGS/caddy.log", ""},
		{"audit-against", 2, "audit -r AUDIT/robots.txt --against audit-old.txt LOGS/combined.log", ""},
		{"audit-against-better", 0, "audit -r audit-old.txt --against AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-versions", 0, "audit -r 2026-11-07T12:00:15Z=AUDIT/robots.txt -r 2026-11-01=audit-old.txt LOGS/combined.log", ""},
		{"audit-versions-undated", 1, "audit -r audit-old.txt -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-none", 0, "audit -r none LOGS/caddy.log", ""},
		{"audit-glob", 0, "audit -r none LOGS/caddy-[r2]*.log", ""},
		{"audit-glob-empty", 1, "audit -r none LOGS/nothing*.log", ""},
		{"audit-stdin", 0, "audit -r audit-old.txt -", "192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"\x1b]0;Bad\u202eBot/1.0 \xff(+https://example.org)\"\nnothing\n"},
		{"audit-suggest-short", 0, "audit --suggest -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-suggest-stdin", 1, "audit --suggest -r AUDIT/robots.txt -", ""},
		{"audit-suggest-none", 0, "audit --suggest -r none LOGS/caddy.log", ""},
		{"audit-suggest-unknown", 1, "audit --suggest LOGS/caddy.log", ""},
		{"audit-suggest-sites", 1, "audit --suggest -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-host", 0, "audit -r AUDIT/robots.txt --host WWW.example.com. LOGS/vhost-combined.log", ""},
		{"audit-host-unknown", 1, "audit -r none --host example.org LOGS/vhost-combined.log", ""},
		{"audit-host-not-configured", 1, "audit -c audit.caddyfile --host example.org LOGS/caddy.log", ""},
		{"audit-host-suggest", 0, "audit --suggest -c audit.caddyfile --host www.example.com LOGS/caddy.log", ""},
		{"audit-no-agents", 1, "audit -r none LOGS/common.log", ""},
		{"audit-no-log", 1, "audit -r none clean.txt", ""},
		{"audit-missing", 1, "audit -r none nothing-here.log", ""},
		{"audit-folder", 1, "audit -r none LOGS", ""},
		{"audit-zone", 0, "audit -r none --zone +02:00 LOGS/caddy-renamed.log", ""},
		{"audit-zone-unknown", 1, "audit -r none --zone Nowhere LOGS/caddy-renamed.log", ""},
		{"audit-decided", 0, "audit --decided decided.log", ""},
		{"audit-decided-host", 0, "audit --decided --host t401.example decided.log", ""},
		{"audit-decided-json", 0, "audit --decided --json decided.log", ""},
		{"audit-decided-none", 1, "audit --decided LOGS/combined.log", ""},
		{"audit-decided-suggest", 1, "audit --decided --suggest decided.log", ""},
		{"audit-requests", 0, "audit --decided --requests gptbot decided.log", ""},
		{"audit-requests-json", 0, "audit --decided --requests GPTBot --json decided.log", ""},
		{"audit-requests-unknown", 1, "audit --decided --requests Bingbot decided.log", ""},
		{"audit-requests-alone", 1, "audit --requests GPTBot decided.log", ""},
	})
}
