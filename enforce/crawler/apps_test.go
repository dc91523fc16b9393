package crawler_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// A group for a name that browsers or apps send applies to nobody.
func TestGroupsForBrowsersAndApps(t *testing.T) {
	r := crawler.Builtin()
	for _, row := range rows(t, "groups.tsv", 3) {
		token, ua, want := row[0], row[1], row[2]
		want, known := strings.CutSuffix(want, ", known")
		if known && !r.People(token) {
			t.Errorf("%s is a word of people's clients", token)
		}
		if got := cmp.Or(strings.Join(identify(r.Matcher([]string{token, "*"}), ua), ", "), "nobody"); got != want {
			t.Errorf("a group for %s makes %s %s, want %s", token, ua, got, want)
		}
	}
}
