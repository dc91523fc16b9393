package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// With persist, the text of each version stays, also when another one is in force, and over
// a restart. Without it, none is kept.
func TestTextsAreKept(t *testing.T) {
	w, file, list := newWatcher(), &text{"User-agent: *\nDisallow: /x\n"}, []*Handler(nil)
	w.configure(t, &list, &config.Settings{Source: &config.Source{Kind: config.SourceFile, Path: "robots.txt"}}, file, "a.test")
	origins := func() *origins.Table { return list[0].engine().Origins() }
	if w.CountAccidents(); len(w.app.Counters.texts.known) > 0 {
		t.Fatal("texts are kept without persist")
	}
	w.app.Counters.file = new(persistFile)
	first := tagOf(origins())
	w.CountAccidents()
	w.pass(time.Minute)
	file.body += "Disallow: /y\n"
	origins().Refresh(t.Context(), func(judge.Origin) bool { return true }, nothing)
	w.CountAccidents()
	restored := newAccidents()
	if err := restored.load(w.app.Counters.save()); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{first: "User-agent: *\nDisallow: /x\n", tagOf(origins()): file.body} {
		if got := restored.texts.known[version]; got.Text != want || got.Last == 0 {
			t.Errorf("%s: %+v, want %q", version, got, want)
		}
	}
}

func nothing(origins.FetchEvent) {}

func tagOf(t *origins.Table) string {
	for s := range t.States(nil) {
		return s.Rules.Tag()
	}
	return ""
}

// Texts are bounded. New ones take the room of those that were in force the longest ago, and
// of none that is in force.
func TestTextsAreBounded(t *testing.T) {
	texts, now := texts{known: make(map[string]counters.Text)}, time.Unix(1_800_000_000, 0)
	big := strings.Repeat("x", maxTexts/10)
	for i := range 30 {
		now = now.Add(time.Hour)
		texts.seen("0", now)
		texts.add(fmt.Sprint(i), counters.Text{Text: big, Last: now.Unix()}, now)
	}
	if _, ok := texts.known["0"]; !ok || len(texts.known) != 10 || texts.known["29"].Text == "" || texts.octets > maxTexts {
		t.Errorf("%d texts of %d octets", len(texts.known), texts.octets)
	}
	for i := range 30 {
		texts.add(fmt.Sprint("now", i), counters.Text{Text: big, Last: now.Unix()}, now)
	}
	for i := range 8 {
		if _, ok := texts.known[fmt.Sprint("now", i)]; !ok {
			t.Errorf("text %d made room though it is in force", i)
		}
	}
}

// What has just begun has no duration: "for 1 second" would say nothing.
func TestLasting(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", 59 * time.Second: "", time.Minute: " for 1 minute", 3 * time.Hour: " for 3 hours", 50 * time.Hour: " for 2 days",
	} {
		if got := lasting(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
