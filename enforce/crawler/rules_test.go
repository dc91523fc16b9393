package crawler_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// rows returns the rows of a file of testdata, each with that many fields.
func rows(t *testing.T, name string, fields int) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if row[0] == "" && len(row) == 1 || strings.HasPrefix(row[0], "#") {
			continue
		}
		for i, field := range row {
			if strings.HasPrefix(field, `"`) {
				row[i], err = strconv.Unquote(field)
			}
		}
		if len(row) != fields || err != nil {
			t.Fatalf("%s: %q has not %d fields: %v", name, line, fields, err)
		}
		all = append(all, row)
	}
	return all
}

// Each User-Agent of identities.tsv is identified as it says, by its tokens and its form.
func TestIdentities(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	for _, row := range rows(t, "identities.tsv", 2) {
		if got := cmp.Or(strings.Join(identify(m, row[0]), ", "), "person"); got != row[1] {
			t.Errorf("%q is %s, want %s", row[0], got, row[1])
		}
	}
}

func TestTokensOfASiteBeforeAVersion(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"Quxfetch", "Quxfetch-2"})
	for ua, want := range map[string]string{"Quxfetch-1.7": "named Quxfetch", "Quxfetch-2": "named Quxfetch-2", "Quxfetch-2.0": "named Quxfetch-2"} {
		if got := identify(m, ua); !slices.Equal(got, []string{want}) {
			t.Errorf("%q is %q, want %q", ua, got, want)
		}
	}
}

func TestTooLongUserAgentsAreNotPeople(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	pad := strings.Repeat("Lorem ipsum (", 60)
	if len(pad) < 600 {
		t.Fatal("the padding is too short")
	}
	for _, c := range []struct {
		ua    string
		class crawler.Class
	}{
		{pad + "GPTBot/1.2", crawler.Registered},
		{pad + "AcmeBot/1.0", crawler.SelfDeclared},
		{strings.Repeat("x ", crawler.MaxUserAgent) + "GPTBot/1.2", crawler.SelfDeclared},
		{chrome + strings.Repeat(" ", crawler.MaxUserAgent), crawler.SelfDeclared},
		{"curl/8.5.0" + strings.Repeat(" ", crawler.MaxUserAgent), crawler.SelfDeclared},
		{"GPTBot" + strings.Repeat(" ", crawler.MaxUserAgent), crawler.Registered},
	} {
		var id, cached crawler.Identity
		m.Identify(c.ua, &id)
		if id.Class() != c.class {
			t.Errorf("%.40q… of %d octets is %v, want %v", c.ua, len(c.ua), id.Class(), c.class)
		}
		cache := crawler.NewCache(16)
		cache.Identify(m, c.ua[:min(len(c.ua), crawler.MaxUserAgent)], &cached) // the same octets that are read of the longer one
		cache.Identify(m, c.ua, &cached)
		if !slices.Equal(id.Agents(), cached.Agents()) {
			t.Errorf("%.40q…: the matcher finds %v, the cache %v", c.ua, agents(&id), agents(&cached))
		}
	}
}
