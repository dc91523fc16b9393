package report

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// All policies become one statement, and lines for robots.txt are comments.
func TestSuggestions(t *testing.T) {
	saved := audit.Saved{Sum: cost.Sum{Requests: 1200, Octets: 5000, Seconds: 60}, Share: 0.254}
	one := func(kind, where, text string) audit.Suggestion {
		return audit.Suggestion{Kind: kind, Where: where, Text: text, Why: "helps \x1b", Saved: saved, Addresses: 1000, Sure: "high"}
	}
	r := &audit.Report{
		Suggestions: []audit.Suggestion{
			one("limit", "caddyfile", "limit /a {\n\tall 5/1h\n}"),
			one("policy", "caddyfile", "policy {\n\tdeny seo\n}"),
			one("disallow", "robots_txt", "User-agent: GPTBot\nDisallow: /b"),
			one("policy", "caddyfile", "policy no-training"),
			one("policy", "caddyfile", "policy {\n\tdeny data\n}"),
			one("challenge", "caddyfile", "challenge /c/* {\n\tover 60/1m\n}"),
		},
		Suggested: &audit.Suggested{Hosts: []string{"example.com", "www.example.com"}, Whole: cost.Sum{Requests: 5000, Octets: 9000, Seconds: 300}, Together: saved},
	}
	r.Suggestions[2].InsteadOf = []int{2, 4}
	const why = ". Saves 1,200 requests, 5.0 kB, 60 s (25 %). Sure: high, by 1,000 addresses.\n"
	const want = `# Suggestions of caddy robots audit. Nothing was changed.
# All requests: 5,000 requests, 9.0 kB, 5 min. Besides what robots.txt refuses, the suggestions together would have saved 1,200 requests, 5.0 kB, 60 s (25 %).
# Each figure is that of one change alone. But for challenge, no request of a search engine or with a browser's User-Agent would have been refused.

example.com, www.example.com {
	robots {
		# 4` + why + `		# It helps \x1b.
		policy no-training {
			# 2` + why + `			# It helps \x1b.
			deny seo
			# 5` + why + `			# It helps \x1b.
			deny data
		}
		# 1` + why + `		# It helps \x1b.
		limit /a {
			all 5/1h
		}
		# 6` + why + `		# It helps \x1b.
		challenge /c/* {
			over 60/1m
		}
	}
}

# Add the lines below at the end of robots.txt, each without the # at its start:
#
## 3` + why + `## It helps \x1b.
## Use it instead of 2, 4, by which these crawlers get nothing.
#User-agent: GPTBot
#Disallow: /b
`
	var out strings.Builder
	if err := Suggestions(&out, r); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
