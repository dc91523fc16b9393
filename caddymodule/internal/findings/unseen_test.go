package findings_test

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

func TestHeadersThatNoCrawlerSees(t *testing.T) {
	for _, tt := range []struct {
		name, rule, file string
		line             int // of the robots.txt; 0: it is seen
	}{
		{"a path", "/private/ noindex", "User-agent: *\nDisallow: /private/\n", 2},
		{"a path below", "/private/x/ none", "User-agent: *\nDisallow: /private/\n", 2},
		{"a name", "*.pdf noindex", "User-agent: *\nDisallow: /*.pdf$\n", 2},
		{"the whole site", "secret.html noindex", "User-agent: *\nDisallow: /\n", 2},
		{"a path above", "/ noindex", "User-agent: *\nDisallow: /private/\n", 0},
		{"an exception", "/private/press/ noindex", "User-agent: *\nDisallow: /private/\nAllow: /private/press/\n", 0},
		{"another directive", "/private/ nosnippet", "User-agent: *\nDisallow: /private/\n", 0},
		{"another group reads it", "/private/ noindex", "User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow:\n", 0},
		{"not the one that is spoken to", "/private/ googlebot: noindex", "User-agent: *\nDisallow:\n\nUser-agent: Googlebot\nDisallow: /private/\n", 5},
		{"one that falls to another group", "/private/ googlebot-image: noindex", "User-agent: *\nDisallow:\n\nUser-agent: Googlebot\nDisallow: /private/\n", 5},
		{"nobody is bound", "/private/ noindex", "User-agent: GPTBot\nDisallow: /\n", 0},
		{"no file", "/private/ noindex", "", 0},
		{"everything else", "not *.html noindex", "User-agent: *\nDisallow: /\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := headers.ParseRule(strings.Fields(tt.rule))
			if err != nil {
				t.Fatal(err)
			}
			found := lint.Lint(robots.Parse([]byte(tt.file)), findings.UnseenCheck([]headers.Rule{rule}, crawler.Builtin()), lint.WithSelect("unseen-noindex"))
			switch {
			case tt.line == 0 && len(found) > 0:
				t.Errorf("%s", found[0].Message)
			case tt.line > 0 && (len(found) != 1 || found[0].Line != tt.line || !strings.Contains(found[0].Message, "x_robots_tag "+tt.rule)):
				t.Errorf("%v, want line %d", found, tt.line)
			}
		})
	}
}
