package managed

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/preference"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the pages")

// The tables in caddymodule/steps/policy/README.md are those of the code.
func TestPoliciesPage(t *testing.T) {
	tables := map[string]func(*testing.T) string{"presets": presetTable, "purposes": purposeList}
	pages.Check(t, "../../caddymodule/steps/policy/README.md", *update, func(words []string) string {
		table := tables[words[0]]
		if table == nil {
			return ""
		}
		delete(tables, words[0])
		return table(t)
	})
	for name := range tables {
		t.Errorf("the page has no part %s", name)
	}
}

func presetTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| preset | denies | adds |\n|---|---|---|\n")
	for _, name := range []string{"no-training", "no-ai"} {
		p, denies, adds := presets[name], []string{}, []string{}
		for _, purpose := range p.deny {
			denies = append(denies, "`"+purpose+"`")
		}
		for i, values := range [][]string{p.signal, p.usage} {
			adds = append(adds, "`"+[]string{preference.ContentSignal, preference.ContentUsage}[i]+": "+strings.Join(values, ", ")+"`"+[]string{"", " as a header"}[i])
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(denies, ", "), strings.Join(adds, ", "))
	}
	return b.String()
}

// wellKnown are the crawlers to name as examples of a purpose, before others.
var wellKnown = strings.Fields("Googlebot bingbot GPTBot ClaudeBot OAI-SearchBot PerplexityBot ChatGPT-User Claude-User ChatGPT-Agent CCBot FeedFetcher-Google " +
	"SemrushBot archive.org_bot Slackbot Twitterbot UptimeRobot Pingdom Feedly Miniflux CensysInspect Meltwater ZoominfoBot Wget HTTrack curl python-requests HeadlessChrome Stripe PayPal")

// purposeList has each purpose of the built-in registry with its comment in package
// crawler and a crawler that has it as its main one. Each purpose has a crawler.
func purposeList(t *testing.T) string {
	source, err := os.ReadFile("../../enforce/crawler/class.go")
	if err != nil {
		t.Fatal(err)
	}
	examples, known := make(map[string][]string), make(map[string]bool)
	for c := range crawler.Builtin().All() {
		for i, p := range c.Purposes {
			known[string(p)] = true
			if i > 0 || c.ControlOnly {
				continue
			}
			if names := examples[string(p)]; slices.Contains(wellKnown, c.Name) {
				examples[string(p)] = slices.Insert(names, 0, c.Name)
			} else {
				examples[string(p)] = append(names, c.Name)
			}
		}
	}
	var b strings.Builder
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Purpose = "([a-z-]+)" +// (.+)$`).FindAllStringSubmatch(string(source), -1) {
		delete(known, m[1])
		if len(examples[m[1]]) == 0 {
			t.Errorf("%s: the registry has no crawler with this main purpose", m[1])
			continue
		}
		fmt.Fprintf(&b, "- `%s`: %s (%s)\n", m[1], m[2], examples[m[1]][0])
	}
	for p := range known {
		t.Errorf("%s: package crawler has no constant for this purpose of the registry", p)
	}
	return b.String()
}
