package lint

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// locations are where the examples of checks were read from.
var locations = map[string]string{
	"not-at-root": "https://www.example.com/blog/robots.txt", "relative-sitemap": "https://www.example.com/robots.txt",
}

// external is a check that a caller reports (see WithCheck).
const external = "unseen-noindex"

// The first example on the page of a check has the finding, the second one does
// not.
func TestRuleExamples(t *testing.T) {
	for _, r := range Checks() {
		t.Run(r.Code, func(t *testing.T) {
			codes := func(text string) []string {
				opts := []Option{WithCrawlers(crawlers), WithLocation(locations[r.Code])}
				if r.Code == external {
					opts = append(opts, WithCheck(func(f *robots.File, report func(string, int, string)) {
						if !f.Star().Match("/a").Allowed {
							report(r.Code, f.Star().Match("/a").Rule().Line, "reported by the caller")
						}
					}))
				}
				var list []string
				for _, f := range Lint(robots.Parse([]byte(text)), opts...) {
					list = append(list, f.Code)
				}
				return list
			}
			if got := codes(r.Before); r.Before != "" && !slices.Contains(got, r.Code) {
				t.Errorf("before: %q has %v", r.Before[:min(len(r.Before), 200)], got)
			}
			if got := codes(r.After); r.After != "" && slices.Contains(got, r.Code) {
				t.Errorf("after: %q has %v", r.After[:min(len(r.After), 200)], got)
			}
		})
	}
}

func TestRulesAreComplete(t *testing.T) {
	code := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for i, r := range Checks() {
		if !code.MatchString(r.Code) {
			t.Errorf("code %q", r.Code)
		}
		if i > 0 && Checks()[i-1].Code >= r.Code {
			t.Errorf("%s follows %s", r.Code, Checks()[i-1].Code)
		}
		if r.Title == "" || r.Why == "" || r.Readers == "" {
			t.Errorf("check %s: Title, Why or Readers is empty", r.Code)
		}
	}
	if _, ok := CheckFor("no-such-check"); ok {
		t.Error("CheckFor finds a check that does not exist")
	}
}

// Every check has an example among the golden files.
func TestRulesHaveGoldenFiles(t *testing.T) {
	for _, r := range Checks() {
		if r.Before == "" || r.Code == external {
			continue
		}
		data, err := os.ReadFile(lintFolder + "/" + r.Code + ".findings")
		if err != nil || !strings.Contains(string(data), " "+r.Code+" ") {
			t.Errorf("no golden file has a finding of %s: %v", r.Code, err)
		}
	}
}
