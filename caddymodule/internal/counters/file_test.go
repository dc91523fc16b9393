package counters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestSaveAndLoad(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	site.CountPerson(3)
	for i := range 5 {
		site.Count(decision(gptbot, enforce.Disallowed), clock.request())
		site.Count(decision(crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i)}, enforce.CrawlDelay), clock.request())
		clock.add(30 * time.Minute)
		c.Fold()
	}
	site.class(crawler.Program).decided[outcomes/2+outcome(enforce.Disallowed)].Add(4)
	var saved bytes.Buffer
	if err := c.Save(&saved, json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	text := saved.String()
	clock.add(2 * time.Hour)
	restored := New(clock.now)
	restored.Site("example.com").Count(decision(gptbot, enforce.Disallowed), clock.request())
	if files, err := restored.Load(&saved); err != nil || string(files) != `{"a":1}` {
		t.Fatal(string(files), err)
	}
	want, got := c.Summary(statusapi.AllSites(), statusapi.SpanDay), restored.Summary(statusapi.AllSites(), statusapi.SpanDay)
	if got.Crawlers.Total.Requests != want.Crawlers.Total.Requests+1 || got.Crawlers.Day.Denied != 6 || got.Crawlers.Hour.Denied != 1 ||
		got.People.Total != 1 || got.People.Day != 1 || !got.Since.Equal(want.Since) || got.Crawlers.Total.WouldDeny != 4 {
		t.Errorf("restored: %+v %+v, want %+v %+v", got.Crawlers, got.People, want.Crawlers, want.People)
	}
	rules := restored.Lines(statusapi.AllSites())
	if len(rules) != 2 {
		t.Fatalf("rules: %+v", rules)
	}
	for _, r := range rules {
		if r.Number == 2 && (r.Denied != 6 || r.Day != 6 || r.Text != "Disallow: /private/") || r.Number == 4 && r.Throttled != 5 {
			t.Errorf("rule: %+v", r)
		}
	}
	for _, damaged := range []string{"", "{", text[:len(text)/2], `{"version":2}`, `{"version":1,"sites":[{"crawlers":[{"class":"x"}]}]}`,
		`{"version":1,"sites":[{"crawlers":[null]}]}`, `{"version":1,"rules":[null]}`, `{"version":1,"rules":[{"layer":"x"}]}`} {
		fresh := New(clock.now)
		if _, err := fresh.Load(strings.NewReader(damaged)); err == nil {
			t.Errorf("%.50q is loaded", damaged)
		}
		if s := fresh.Summary(statusapi.AllSites(), statusapi.SpanHour); len(s.Sites) != 0 {
			t.Errorf("%.50q adds sites: %+v", damaged, s.Sites)
		}
	}
}

// Counts of a time that has not come yet are only in the total.
// A saved total without its decisions does not hide the requests that come.
func TestLoadWithoutDecisions(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	at := clock.unix.Load() / 60
	saved := fmt.Sprintf(`{"version": 1, "at": %d, "since": "2026-11-01T00:00:00Z", "sites": [{"name": "a.test", "people": {"total": 0}, "crawlers": [
		{"name": "GPTBot", "class": "crawler", "known": true, "last": %[1]d, "past": {"requests": {"total": 1440, "series": [0]}}}]}]}`, at)
	if _, err := c.Load(strings.NewReader(saved)); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		c.Site("a.test").Count(decision(gptbot, enforce.Allowed), clock.request())
	}
	c.Fold()
	if n := c.Summary(statusapi.AllSites(), statusapi.SpanHour).Crawlers.Hour.Requests; n != 300 {
		t.Errorf("%d requests in the last hour, want 300", n)
	}
}

func TestLoadWithTheClockSetBack(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("example.com").CountPerson(0)
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	clock.add(-3 * time.Hour)
	restored := New(clock.now)
	if _, err := restored.Load(&saved); err != nil {
		t.Fatal(err)
	}
	if people := restored.Summary(statusapi.AllSites(), statusapi.SpanDay).People; people.Total != 1 || people.Month != 0 {
		t.Errorf("%+v", people)
	}
}

// FuzzLoad checks that no file makes Load panic, and that loaded counts can be saved
// and loaded again.
func FuzzLoad(f *testing.F) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("example.com").Count(decision(gptbot, enforce.Disallowed), clock.request())
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add([]byte(`{"version":1,"sites":[{"name":"a","people":{"total":1,"series":[1,2,3]}}],"rules":[{"layer":"site","reason":"allowed"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(clock.now)
		if _, err := c.Load(bytes.NewReader(data)); err != nil {
			return
		}
		c.Fold()
		var again bytes.Buffer
		if err := c.Save(&again, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := New(clock.now).Load(&again); err != nil {
			t.Fatalf("the saved file can't be loaded: %v", err)
		}
	})
}
