package report

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// All policies become one statement.
func TestSuggestions(t *testing.T) {
	saved := audit.Saved{Sum: cost.Sum{Requests: 1200, Octets: 5000, Seconds: 60}, Share: 0.254}
	one := func(kind, text string) audit.Suggestion {
		return audit.Suggestion{Kind: kind, Text: text, Why: "helps \x1b", Saved: saved, Addresses: 1000, Asks: kind == "challenge", Once: kind != "limit"}
	}
	r := &audit.Report{
		Suggestions: []audit.Suggestion{
			one("limit", "limit /a {\n\tall 5/1h\n}"),
			one("policy", "policy {\n\tdeny seo\n}"),
			one("policy", "policy no-training"),
			one("policy", "policy {\n\tdeny data\n}"),
			one("challenge", "challenge /c/* {\n\tover 60/1m\n}"),
		},
		Suggested: &audit.Suggested{Hosts: []string{"example.com", "www.example.com"}, Whole: cost.Sum{Requests: 5000, Octets: 9000, Seconds: 300}, Together: saved},
	}
	const why = ". Saves 1,200 requests, 5.0 kB, 60 s (25 %), from 1,000 addresses.\n"
	const want = `# Suggestions of caddy robots audit. Nothing was changed.
# All requests: 5,000 requests, 9.0 kB, 5 min. Besides what robots.txt refuses, the suggestions together would have saved 1,200 requests, 5.0 kB, 60 s (25 %).
# Each figure is that of one change alone. But for what asks browsers, no request of a search engine or with a browser's User-Agent would have been refused.

example.com, www.example.com {
	robots {
		# 1` + why + `		# It helps \x1b.
		limit /a {
			all 5/1h
		}
		# 2` + why + `		# It helps \x1b.
		# 3` + why + `		# It helps \x1b.
		policy no-training {
			deny seo
			# 4` + why + `			# It helps \x1b.
			deny data
		}
		# 5` + why + `		# It helps \x1b.
		challenge /c/* {
			over 60/1m
		}
	}
}
`
	var out strings.Builder
	if err := Suggestions(&out, r); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}

// A line that the block has already is joined with what is suggested of its kind.
func TestCommented(t *testing.T) {
	r := &audit.Report{
		Suggestions: []audit.Suggestion{{Kind: "policy", Once: true, Text: "policy {\n\tdeny seo\n}", Why: "helps"}},
		Suggested:   &audit.Suggested{Notes: []string{"Too few to tell."}},
	}
	got := Commented(r, []string{"signals on", "policy no-training"})
	if want := "\t# Too few to tell.\n\t## In place of policy no-training above:\n\t#policy no-training {\n\t#\t# 1. Saves"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if got := Commented(nil, nil); got != "" {
		t.Error(got)
	}
}
