package caddymodule

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestCrawlersAreAddedAndOverridden(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: Intranet\nDisallow: /intranet/\n"
	h := provisioned(t, &Handler{
		Source: &Source{Kind: fromInline, Text: file},
		Crawlers: []Crawler{
			{Name: "Intranet", UserAgents: []string{"Seeker9"}, Robots: []string{"Intranet"}, Purpose: "search"},
			{Name: "gptbot", Star: "no"},
			{Name: "curl", Class: "offline"},
		},
	})
	for _, tt := range []struct {
		ua, target string
		want       int
	}{
		{"Seeker9/2.0", "/intranet/x", 403},
		{"Seeker9/2.0", "/private/x", 200},
		{gptbot, "/private/x", 200},
		{"curl/8.5.0", "/private/x", 403},
		{googlebot, "/private/x", 403},
		{chrome, "/private/x", 200},
	} {
		if w := serve(t, h, request(tt.ua, tt.target)); w.Code != tt.want {
			t.Errorf("%s for %.30s: %d, want %d", tt.target, tt.ua, w.Code, tt.want)
		}
	}
	if row := h.running.Load().Registry().Lookup("GPTBot"); row.Star != crawler.No || row.Operator == "" || len(row.Robots) == 0 {
		t.Errorf("overriding one fact lost the others: %+v", row)
	}
}

func TestTheRegistryFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawlers.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"name": "OneThing"}` + "\n")
	h := provisioned(t, &Handler{Source: &Source{Kind: fromInline, Text: "User-agent: *\nDisallow: /\n"}, Registry: path})
	eventually := func(what string, want func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !want(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it never came to be that %s", what)
			}
		}
	}
	denied := func(ua string) func() bool {
		return func() bool { return serve(t, h, request(ua, "/")).Code == 403 }
	}
	eventually("the file's crawler is known", denied("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OneThing/1.0"))

	before := h.running.Load()
	write("{broken\n")
	write(`{"name": "OneThing"}` + "\n" + `{"name": "Mozilla"}` + "\n") // browsers send it
	write(`{"name": "OtherThing"}` + "\n")
	eventually("the new crawler is known", denied("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OtherThing/1.0"))
	if h.running.Load() == before {
		t.Error("nothing was replaced")
	}
	if serve(t, h, request(chrome, "/")).Code != 200 {
		t.Error("a browser was stopped")
	}
}

func TestBadCrawlersAreRefused(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.jsonl")
	if err := os.WriteFile(broken, []byte("\n{\"name\": \"A1Thing\"}\n{broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		crawlers []Crawler
		file     string
		want     string
	}{
		{[]Crawler{{Name: "Chrome"}}, "", "Chrome"},
		{[]Crawler{{Name: "X1Thing", UserAgents: []string{"Safari"}}}, "", "Safari"},
		{[]Crawler{{Name: "X1Thing", UserAgents: []string{"GPTBot"}}}, "", "GPTBot"},
		{[]Crawler{{Name: "X1Thing"}, {Name: "x1thing"}}, "", "twice"},
		{[]Crawler{{Name: "X1Thing", Star: "maybe"}}, "", "yes or no"},
		{[]Crawler{{Name: "X1Thing", Class: "robot"}}, "", "robot"},
		{nil, filepath.Join(dir, "none.jsonl"), "no such file"},
		{nil, broken, "line 3"},
	} {
		if _, err := knownCrawlers(tt.file, tt.crawlers); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, %s: %v, want something of %q", tt.crawlers, tt.file, err, tt.want)
		}
	}
}
