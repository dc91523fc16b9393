package suggest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/commands/internal/replay"
	limitstep "github.com/caddy-robots/caddy-robots/caddymodule/steps/limit"
	policystep "github.com/caddy-robots/caddy-robots/caddymodule/steps/policy"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// The kinds of suggestions.
const policy, limit, challenge = "policy", "limit", "challenge"

// suggested audits a log with a robots.txt, and returns the report with suggestions.
func suggested(t *testing.T, log []byte, file string, change func(*Input)) *audit.Report {
	t.Helper()
	in := &Input{Options: audit.Options{
		Files: []logfile.File{memory(log)},
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: judge.Response{Status: http.StatusOK, Body: []byte(file)}}}}},
	}}
	if change != nil {
		change(in)
	}
	var err error
	if in.Options.Sites[0], _, err = replay.With(in.Options.Sites[0], in.Steps); err != nil {
		t.Fatal(err)
	}
	if in.Report, err = audit.Run(t.Context(), in.Options); err != nil {
		t.Fatal(err)
	}
	if err = Add(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return in.Report
}

// memory returns a log that is in memory.
func memory(log []byte) logfile.File {
	return logfile.File{Name: "access.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(log)), nil }}
}

// days is how many days most logs cover; suggestions need three.
const days = 4

const ownFile = "User-agent: *\nDisallow: /private/\n"

// The suggestions for the logs of known software cover what its robots cost, and never
// name a path that people reach from a search engine.
func TestKnownSoftware(t *testing.T) {
	for name, flows := range culprits {
		t.Run(name, func(t *testing.T) {
			r := suggested(t, write(days, flows...), ownFile, nil)
			for _, s := range r.Suggestions {
				t.Logf("%s %.2f %d: %s", s.Kind, s.Share, s.Requests, s.Text)
				for _, pattern := range patternsOf(s) {
					for _, f := range flows {
						for _, example := range f.targets {
							if f.landing && target.Matches(target.Group(pattern), strings.ReplaceAll(example, "#", "7")) {
								t.Errorf("%s names %s, which people reach from a search engine", pattern, example)
							}
						}
					}
				}
			}
			for i, s := range r.Suggestions {
				if s.Share > r.Suggested.Together.Share {
					t.Errorf("suggestion %d alone saves more (%.3f) than all together (%.3f)", i+1, s.Share, r.Suggested.Together.Share)
				}
			}
			robots := r.Costs.Robots.Seconds
			if covered := r.Suggested.Together.Seconds / robots; covered < 0.8 {
				t.Errorf("the suggestions cover %.0f %% of what robots cost", 100*covered)
			}
		})
	}
}

// patternsOf returns the paths that a suggestion names.
func patternsOf(s audit.Suggestion) (list []string) {
	for line := range strings.SplitSeq(s.Text, "\n") {
		if paths, ok := strings.CutPrefix(line, "limit "); ok {
			list = append(list, strings.Fields(strings.TrimSuffix(paths, " {"))...)
		}
	}
	return list
}

// kinds returns the kinds of the suggestions.
func kinds(r *audit.Report) string {
	var list []string
	for _, s := range r.Suggestions {
		list = append(list, s.Kind)
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// blames returns a log of a forge in which GPTBot and an unknown robot ask for blame
// pages, with more flows.
func blames(days int, more ...flow) []byte {
	flows := append(visitors("/ann/app", "/ann/app/issues/#"),
		culprit(gptbot, 900, 1, "/ann/app/blame/branch/file#.go"), culprit(spider, 900, 1, "/ann/app/blame/branch/file#.go"))
	return write(days, append(flows, more...)...)
}

// Nothing is suggested that could harm people, search engines or feed readers, and
// nothing for which the evidence is small.
func TestWhatIsNotSuggested(t *testing.T) {
	const all = "limit policy"
	blame := func(agent, target string) flow {
		return flow{agent: agent, perDay: 2, from: 50, seconds: 0.1, targets: []string{target}}
	}
	fromSearch := blame(firefox, "/ann/app/blame/branch/file1.go")
	fromSearch.landing = true
	few := culprit(gptbot, 900, 1, "/ann/app/blame/branch/file#.go")
	few.from = minAddresses - 1
	log := blames(days)
	for _, c := range []struct {
		what   string
		log    []byte
		file   string
		change func(*Input)
		want   string
	}{
		{"all kinds", log, ownFile, nil, all},
		{"no robots", write(days, visitors("/ann/app", "/x?sort=#")...), ownFile, nil, ""},
		{"search engines only", write(days, append(visitors("/x"), culprit(googlebot, 900, 1, "/ann/app/blame/#"))...), ownFile, nil, ""},
		{"a flood, less than three days", write(1, append(visitors("/x"), flow{agent: spider, perDay: 5000, from: 50, seconds: 0.3, burst: true, targets: []string{"/list?a=#"}})...), ownFile, nil, "limit"},
		{"less than three days", blames(2), ownFile, nil, ""},
		{"few addresses", write(days, append(visitors("/x"), few)...), ownFile, nil, ""},
		{"little costs", write(days, append(visitors("/x"), culprit(gptbot, 10, 0.01, "/ann/app/blame/#"))...), ownFile, nil, ""},
		{"people come to such a page", blames(days, fromSearch), ownFile, nil, "policy"},
		{"feed readers come to such pages", blames(days, culprit("Feedly/1.0 (+https://feedly.com/f/app)", 900, 0.1, "/ann/app/blame/branch/file#.go")), ownFile, nil, "policy"},
		{"a feed", blames(days, blame(spider, "/ann/app/blame/branch/main.atom")), ownFile, nil, "policy"},
		{"disallowed already", log, "User-agent: *\nDisallow: /*/blame/\n", nil, ""},
		{"no robots.txt", log, "", func(in *Input) { in.Options.Sites[0].Robots[0].Response.Status = http.StatusNotFound }, all},
		{"robots.txt is an error", log, "", func(in *Input) { in.Options.Sites[0].Robots[0].Response.Status = http.StatusInternalServerError }, all},
		{"a policy", log, ownFile, func(in *Input) {
			in.Steps = append(in.Steps, &policystep.Policy{Policy: managed.Policy{Deny: []managed.Statement{{Values: []string{"Bytespider"}}}}})
		}, "limit"},
		{"limits", log, ownFile, func(in *Input) {
			all := new(limitstep.Limits)
			for i := range limits.Max {
				all.Limits = append(all.Limits, limits.Limit{Paths: []string{fmt.Sprint("/x", i)}, AtOnce: 9})
			}
			in.Steps = append(in.Steps, all)
		}, "policy"},
		{"a limit for the path", log, ownFile, func(in *Input) {
			in.Steps = append(in.Steps, &limitstep.Limits{Limits: []limits.Limit{{Paths: []string{"/*/blame/"}, AtOnce: 9}}})
		}, "policy"},
		{"a crawler without a purpose", write(days, append(visitors("/x"), flow{agent: "ShopSync-Bot/2.1", perDay: 200, from: 50, seconds: 1, targets: []string{"/api/#"}})...), ownFile, func(in *Input) {
			registry, err := crawler.Builtin().With(crawler.Crawler{Name: "ShopSync-Bot", Class: crawler.Registered, UserAgents: []string{"shopsync-bot"}, Robots: []string{"ShopSync-Bot"}})
			if err != nil {
				t.Fatal(err)
			}
			in.Options.Sites[0].Rules.Registry = registry
		}, "limit"},
	} {
		r := suggested(t, c.log, c.file, c.change)
		if got := kinds(r); got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.what, got, c.want, r.Suggested.Notes)
		}
		if (len(r.Suggestions) == 0) != (len(r.Suggested.Notes) > 0 && r.Suggested.Together.Requests == 0) {
			t.Errorf("%s: %d suggestions, but the notes are %q", c.what, len(r.Suggestions), r.Suggested.Notes)
		}
	}
}

// A policy is for a purpose. Its reason names the crawlers that cost much, if others with
// the purpose do not.
func TestPolicyNamesWhoCosts(t *testing.T) {
	page := func(agent string, perDay int) flow { return culprit(agent, perDay, 1, "/page-#") }
	var small []flow
	for _, name := range []string{"AhrefsBot", "SemrushBot", "MJ12bot", "DotBot", "BLEXBot", "DataForSeoBot"} {
		small = append(small, page("Mozilla/5.0 (compatible; "+name+"/1.0; +https://example.org)", 10))
	}
	for _, c := range []struct {
		what  string
		flows []flow
		file  string
		want  string // the suggested policies
		why   string
	}{
		{"one, and one that costs little", []flow{page(gptbot, 900), page(claudebot, 3)}, ownFile, "policy no-training", "of a purpose that these have: GPTBot, ClaudeBot. To deny only those that cost much, write: deny GPTBot"},
		{"one alone", []flow{page(ahrefs, 900)}, ownFile, "policy {\n\tdeny seo\n}", "a purpose that these have: AhrefsBot"},
		{"two of three", []flow{page(gptbot, 900), page(claudebot, 600), page("CCBot/2.0", 3)}, ownFile, "policy no-training", "write: deny GPTBot ClaudeBot"},
		{"two", []flow{page(gptbot, 900), page(claudebot, 600)}, ownFile, "policy no-training", "a purpose that these have: GPTBot, ClaudeBot"},
		{"many together", append(small, page(spider, 700)), ownFile, "policy {\n\tdeny seo\n}", "and 3 more"},
		{"one with a group of its own", []flow{page(gptbot, 900), page(claudebot, 3)}, ownFile + "\nUser-agent: GPTBot\nDisallow: /x\n", "", ""},
		{"one besides one with a group of its own", []flow{page(gptbot, 900), page(claudebot, 600)}, ownFile + "\nUser-agent: GPTBot\nDisallow: /x\n", "policy no-training", "It does not deny GPTBot, which"},
	} {
		r := suggested(t, write(days, append(visitors("/page-#"), c.flows...)...), c.file, nil)
		got, why := "", ""
		for _, s := range r.Suggestions {
			if s.Kind == policy {
				got, why = got+s.Text, why+s.Why
			}
		}
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, because it %s", c.what, got, why)
		}
	}
}

// A suggestion that saves nothing beside the others says so.
func TestWhatTwoSuggestionsSave(t *testing.T) {
	const more = "hardly anything more"
	for _, c := range []struct {
		what string
		log  []byte
		want []bool // for each suggestion
	}{
		{"the same requests", write(days, append(visitors("/x"), culprit(gptbot, 900, 1, "/blame/#"))...), []bool{false, true}},
		{"others too", blames(days), []bool{false, false}},
	} {
		var got []bool
		for _, s := range suggested(t, c.log, ownFile, nil).Suggestions {
			got = append(got, strings.Contains(s.Why, more))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

// Clients choose the paths of a log. None can add a line to a suggestion.
func TestHostilePaths(t *testing.T) {
	log := blames(days,
		culprit(gptbot, 600, 1, `/a{b/"c%0ADisallow: /#`, "/a%0a%0dUser-agent:%20*/x", "/x#y/z", "/$/x/*", `/\n}\n/x`),
		culprit(spider, 600, 1, "/q?a{b}=1&c=#", "/q?User-agent:%20*=#", "/imp{ort/#", "/\u202e/#"))
	r := suggested(t, log, ownFile, nil)
	if len(r.Suggestions) == 0 {
		t.Fatal("no suggestion")
	}
	for _, s := range r.Suggestions {
		for _, pattern := range patternsOf(s) {
			if strings.Trim(pattern, "/*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:-?&=$") != "" {
				t.Errorf("pattern %q", pattern)
			}
		}
	}
}

// Two paths with the same number of requests and octets are two suggestions, and two
// patterns for the same requests are one.
func TestSameCosts(t *testing.T) {
	log := bytes.ReplaceAll(blames(days, culprit(spider, 900, 1, "/ann/app/raw/commit/ab#"), culprit(spider, 900, 1, "/ann/app/compare/ab#")), []byte(`"duration":`), []byte(`"took":`))
	limits := map[string]bool{}
	for _, s := range suggested(t, log, ownFile, nil).Suggestions {
		if s.Kind == limit {
			limits[s.Text[:strings.IndexByte(s.Text, '{')]] = true
		}
	}
	if len(limits) != 3 {
		t.Errorf("%v", limits)
	}
}
