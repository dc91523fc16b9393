package counters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func TestSaveAndLoad(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	site.CountPerson(3)
	for i := range 5 {
		site.Count(decision(gptbot, judge.Disallowed), clock.request())
		site.Count(decision(crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprintf("Bot%d", i)}, judge.CrawlDelay), clock.request())
		clock.add(30 * time.Minute)
		c.Fold()
	}
	monitored := decision(crawler.Agent{Class: crawler.Program}, judge.Disallowed)
	monitored.Monitored = true
	for range 4 {
		site.Count(monitored, clock.request())
	}
	var saved bytes.Buffer
	if err := c.Save(&saved, json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	clock.add(2 * time.Hour)
	restored := New(clock.now)
	restored.Site("example.com").Count(decision(gptbot, judge.Disallowed), clock.request())
	if kept, err := restored.Load(&saved); err != nil || string(kept) != `{"a":1}` {
		t.Fatal(kept, err)
	}
	want, got := c.View(statusapi.AllSites(), statusapi.SpanDay).Summary, restored.View(statusapi.AllSites(), statusapi.SpanDay).Summary
	if got.Crawlers.Total.Requests != want.Crawlers.Total.Requests+1 || got.Crawlers.Day.Denied != 6 || got.Crawlers.Hour.Denied != 1 ||
		got.People.Total != 1 || got.People.Day != 1 || !got.Since.Equal(want.Since) || got.Crawlers.Total.WouldDeny != 4 {
		t.Errorf("restored: %+v %+v, want %+v %+v", got.Crawlers, got.People, want.Crawlers, want.People)
	}
	rules := restored.View(statusapi.AllSites(), statusapi.SpanHour).Lines
	if len(rules) != 2 {
		t.Fatalf("rules: %+v", rules)
	}
	for _, r := range rules {
		if r.Number == 2 && (r.Denied != 6 || r.Day != 10 || r.Text != "Disallow: /private/") || r.Number == 4 && r.Throttled != 5 {
			t.Errorf("rule: %+v", r)
		}
	}
}

// A file that is damaged or of another version adds nothing. Rows that this program does not
// know are left out.
func TestLoadDamaged(t *testing.T) {
	const row = `{"site":"shop.test","crawler":"GPTBot","class":"crawler","known":true,"reason":"disallowed","claim":"none","total":7}`
	for _, tt := range []struct {
		text, why string
		refused   uint64
	}{
		{`{"version":1,"rows":[` + row + `],"robots_txt":{"a":{}}}`, "", 7},
		{`{"version":1,"rows":[{"site":"a","class":"new"},` + row + `,{"site":"a","class":"crawler","reason":"new"}]}`, "", 7},
		{``, "damaged", 0},
		{`null`, "version 0", 0},
		{`[]`, "damaged", 0},
		{`{"version":2,"rows":[` + row + `]}`, "version 2, and this server uses version 1", 0},
		{`{"version":1,"rows":[` + row + `,{"site":"b`, "damaged", 0},
		{`{"version":1,"rows":[{"total":1},7,` + row + `]}`, "", 7},
	} {
		c := New(newTestClock().now)
		_, err := c.Load(strings.NewReader(tt.text))
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.text, err)
		}
		if s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary; s.Crawlers.Total.Denied != tt.refused {
			t.Errorf("%s: refused %d", tt.text, s.Crawlers.Total.Denied)
		}
	}
}

// Counts of a minute and an hour that have not come yet are not shown; those of the day are.
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
	if people := restored.View(statusapi.AllSites(), statusapi.SpanDay).Summary.People; people.Total != 1 || people.Month != 1 || people.Day != 0 || people.Hour != 0 {
		t.Errorf("%+v", people)
	}
}

// FuzzLoad checks that no file makes Load panic, and that loaded counts can be saved
// and loaded again.
func FuzzLoad(f *testing.F) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("example.com").Count(decision(gptbot, judge.Disallowed), clock.request())
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add([]byte(`{"version":1,"at":1,"rows":[{"site":"a","class":"person","reason":"person","total":1,"past":[1,2,3]}],"hosts":[{"name":"a"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := New(clock.now)
		_, _ = c.Load(bytes.NewReader(data)) // adds what can be read
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

// A feature can have a reason and a layer of its own. These are the last ones.
var (
	lastReason = judge.RegisterReason(judge.ReasonInfo{Name: "of a feature", Action: judge.Deny})
	lastLayer  = judge.RegisterLayer(judge.LayerInfo{Name: "of a feature"})
)

// Each reason and layer that is registered can be saved and loaded.
func TestSaveEveryReasonAndLayer(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	rules, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /private/\n")})
	if err != nil {
		t.Fatal(err)
	}
	for layer := range lastLayer + 1 {
		for why := range judge.Reasons() {
			d := decision(gptbot, why)
			d.Layer, d.Line, d.Rules, d.Group = layer, 1, rules, rules.File().Star()
			c.Site("example.com").Count(d, clock.request())
		}
	}
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	restored := New(clock.now)
	if _, err := restored.Load(&saved); err != nil {
		t.Fatal(err)
	}
	all := statusapi.AllSites()
	want, got := c.View(all, statusapi.SpanDay).Summary.Reasons, restored.View(all, statusapi.SpanDay).Summary.Reasons
	if len(got) != int(lastReason)+1 || !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := len(restored.View(all, statusapi.SpanHour).Lines); n == 0 || n != len(c.View(all, statusapi.SpanHour).Lines) {
		t.Errorf("%d lines", n)
	}
}

// The counts of a file are added once, whichever name a copy of it has: one that was read, one
// that was written, and one of an earlier process.
func TestFilesAreAddedOnce(t *testing.T) {
	clock := newTestClock()
	process := func(files ...[]byte) (c *Counters, file []byte) {
		c = New(clock.now)
		for _, file := range files {
			if _, err := c.Load(bytes.NewReader(file)); err != nil {
				t.Fatal(err)
			}
		}
		c.Site("example.com").CountPerson(0)
		var saved bytes.Buffer
		if err := c.Save(&saved, nil); err != nil {
			t.Fatal(err)
		}
		return c, saved.Bytes()
	}
	_, first := process()
	_, second := process(first)
	_, other := process()
	for i, tt := range []struct {
		files [][]byte
		want  uint64
	}{
		{[][]byte{first, first}, 2}, {[][]byte{second, first}, 3}, {[][]byte{first, other, second, other}, 3},
	} {
		c, written := process(tt.files...)
		if _, err := c.Load(bytes.NewReader(written)); err != nil {
			t.Error(err)
		}
		if n := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary.People.Total; n != tt.want {
			t.Errorf("%d: %d people, want %d", i, n, tt.want)
		}
	}
}

// Requests invent hosts while the counters are saved.
func TestSaveWhileHostsAppear(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("*.example.com")
	var ended atomic.Bool
	var counting sync.WaitGroup
	for w := range 4 {
		counting.Go(func() {
			for i := 0; !ended.Load(); i++ {
				host := fmt.Sprintf("n%d-%d.example.com", w, i)
				site.Host(host).Count(decision(gptbot, judge.Disallowed), clock.requestTo(host))
			}
		})
	}
	for range 3 {
		if err := c.Save(io.Discard, nil); err != nil {
			t.Error(err)
		}
		clock.add(time.Minute)
		c.Fold()
	}
	ended.Store(true)
	counting.Wait()
}
