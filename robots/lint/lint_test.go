package lint

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

var update = flag.Bool("update", false, "write the golden files of the linter")

const lintFolder = "../../testdata/lint"

// testCrawlers is a registry of crawlers for tests.
type testCrawlers map[string]Crawler

func (t testCrawlers) Lookup(token string) (Crawler, bool) {
	c, ok := t[canonical.Lower(token)]
	return c, ok
}

func (t testCrawlers) SearchEngines() []Crawler {
	return []Crawler{t["googlebot"], t["bingbot"], t["applebot"]}
}

func (t testCrawlers) WellKnown() []string {
	return []string{"Googlebot", "bingbot", "Applebot", "GPTBot", "archive.org_bot", "Sogou web spider"}
}

func (t testCrawlers) People(token string) ([]string, bool) {
	return []string{"Slackbot"}, canonical.Lower(token) == "slack"
}

var crawlers = testCrawlers{
	"googlebot":         {Name: "Googlebot", Tokens: []string{"Googlebot"}, NoDelay: true},
	"bingbot":           {Name: "bingbot", Tokens: []string{"bingbot"}},
	"applebot":          {Name: "Applebot", Tokens: []string{"Applebot", "Googlebot"}},
	"google-extended":   {Name: "Google-Extended", Tokens: []string{"Google-Extended"}, ControlOnly: true},
	"wget":              {Name: "wget", Tokens: []string{"wget"}, NoWildcards: true},
	"httrack":           {Name: "HTTrack", Tokens: []string{"HTTrack"}, NoWildcards: true, NoAllow: true},
	"ia_archiver":       {Name: "ia_archiver", Tokens: []string{"ia_archiver"}},
	"scooter":           {Name: "Scooter", Tokens: []string{"Scooter"}},
	"sogou web spider":  {Name: "Sogou web spider", Tokens: []string{"Sogou web spider"}},
	"gptbot":            {Name: "GPTBot", Tokens: []string{"GPTBot"}},
	"archive.org_bot":   {Name: "archive.org_bot", Tokens: []string{"archive.org_bot"}},
	"applebot-extended": {Name: "Applebot-Extended", Tokens: []string{"Applebot-Extended"}, ControlOnly: true},
}

// Each .txt file in testdata/lint is an example of the rule in its name, or of
// several rules. The file .findings has all findings in it.
func TestLint(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(lintFolder, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			opts := []Option{WithCrawlers(crawlers), WithLocation(locations[name])}
			f := robots.Parse(data)
			findings := Lint(f, opts...)
			if name == "clean" && len(findings) > 0 {
				t.Errorf("findings in a clean file:\n%s", printFindings(findings))
			}
			golden(t, name+".findings", []byte(printFindings(findings)))
		})
	}
}

func printFindings(findings []Finding) string {
	var b strings.Builder
	for _, x := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s %s", x.Line, x.Column, x.Severity, x.Code, strconv.Quote(x.Text))
		if x.Replacement != nil {
			fmt.Fprintf(&b, " -> %s", strconv.Quote(*x.Replacement))
		}
		if x.Related > 0 {
			fmt.Fprintf(&b, " (line %d)", x.Related)
		}
		fmt.Fprintf(&b, "\n\t%s\n", x.Message)
	}
	return b.String()
}

// golden compares got with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(lintFolder, name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}
