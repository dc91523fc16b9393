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

func TestUnseenNoindex(t *testing.T) {
	for _, tt := range []struct {
		name, rule, file string
		line             int // of the rule in robots.txt; 0: crawlers see the header
	}{
		{"a path", "/private/ noindex", "User-agent: *\nDisallow: /private/\n", 2},
		{"a path below", "/private/x/ none", "User-agent: *\nDisallow: /private/\n", 2},
		{"a name", "*.pdf noindex", "User-agent: *\nDisallow: /*.pdf$\n", 2},
		{"the whole site", "secret.html noindex", "User-agent: *\nDisallow: /\n", 2},
		{"a path that is only partly disallowed", "/ noindex", "User-agent: *\nDisallow: /private/\n", 0},
		{"a longer Allow rule", "/private/press/ noindex", "User-agent: *\nDisallow: /private/\nAllow: /private/press/\n", 0},
		{"another directive", "/private/ nosnippet", "User-agent: *\nDisallow: /private/\n", 0},
		{"another group allows the path", "/private/ noindex", "User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow:\n", 0},
		{"the header is for one crawler", "/private/ googlebot: noindex", "User-agent: *\nDisallow:\n\nUser-agent: Googlebot\nDisallow: /private/\n", 5},
		{"the header is for a crawler that obeys the group of another", "/private/ googlebot-image: noindex", "User-agent: *\nDisallow:\n\nUser-agent: Googlebot\nDisallow: /private/\n", 5},
		{"no group applies to other crawlers", "/private/ noindex", "User-agent: GPTBot\nDisallow: /\n", 0},
		{"an empty file", "/private/ noindex", "", 0},
		{"a header for all other paths", "not *.html noindex", "User-agent: *\nDisallow: /\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rule, err := headers.ParseSetting(strings.Fields(tt.rule))
			if err != nil {
				t.Fatal(err)
			}
			found := lint.Lint(robots.Parse([]byte(tt.file)), findings.WithUnseenNoindex([]headers.Setting{rule}, crawler.Builtin()), lint.WithSelect("unseen-noindex"))
			switch {
			case tt.line == 0 && len(found) > 0:
				t.Errorf("%s", found[0].Message)
			case tt.line > 0 && (len(found) != 1 || found[0].Line != tt.line || !strings.Contains(found[0].Message, "x_robots_tag "+tt.rule)):
				t.Errorf("%v, want line %d", found, tt.line)
			}
		})
	}
}
