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
	site.class(crawler.Program).decided.at(newOutcome(judge.Disallowed, true)).n.Add(4)
	var saved bytes.Buffer
	if err := c.Save(&saved, map[string]json.RawMessage{"a": json.RawMessage("1")}); err != nil {
		t.Fatal(err)
	}
	clock.add(2 * time.Hour)
	restored := New(clock.now)
	restored.Site("example.com").Count(decision(gptbot, judge.Disallowed), clock.request())
	if kept, err := restored.Load(&saved); err != nil || len(kept) != 1 || string(kept["a"]) != "1" {
		t.Fatal(kept, err)
	}
	want, got := c.Summary(statusapi.AllSites(), statusapi.SpanDay), restored.Summary(statusapi.AllSites(), statusapi.SpanDay)
	if got.Crawlers.Total.Requests != want.Crawlers.Total.Requests+1 || got.Crawlers.Day.Denied != 6 || got.Crawlers.Hour.Denied != 1 ||
		got.People.Total != 1 || got.People.Day != 1 || !got.Since.Equal(want.Since) || got.Crawlers.Total.WouldDeny != 4 {
		t.Errorf("restored: %+v %+v, want %+v %+v", got.Crawlers, got.People, want.Crawlers, want.People)
	}
	rules := slices.Collect(restored.Lines(statusapi.AllSites()))
	if len(rules) != 2 {
		t.Fatalf("rules: %+v", rules)
	}
	for _, r := range rules {
		if r.Number == 2 && (r.Denied != 6 || r.Day != 6 || r.Text != "Disallow: /private/") || r.Number == 4 && r.Throttled != 5 {
			t.Errorf("rule: %+v", r)
		}
	}
}

// Of a file that is damaged or of another version, everything counts that has the
// form of this version.
func TestLoadWhatCanBeRead(t *testing.T) {
	const bot = `{"name":"GPTBot","class":"crawler","known":true,"decided":{"enforce disallowed":7}}`
	const shop = `{"name":"shop.test","people":{"total":3},"crawlers":[` + bot + `]}`
	for _, tt := range []struct {
		text, why       string
		people, refused uint64
		files           int
	}{
		{`{"version":1,"sites":[` + shop + `],"rules":null,"robots_txt":{"a":{}}}`, "", 3, 7, 1},
		{``, "ends too early", 0, 0, 0},
		{`{}`, "version 0", 0, 0, 0},
		{`null`, "version 0", 0, 0, 0},
		{`[]`, "version 0", 0, 0, 0},
		{`{"version":2,"new":[{}],"sites":[` + strings.Replace(shop, "{", `{"new":{},`, 1) + `]}`, "version 2, and this server uses version 1", 3, 7, 0},
		{`{"version":0,"sites":[` + shop + `]}`, "version 0", 3, 7, 0},
		{`{"version":1,"sites":[` + shop + `,{"name":"b`, "ends too early", 3, 7, 0},
		{`{"version":1,"sites":[{"name":"shop.test","people":{"total":3},"crawlers":[` + bot + `,{"name":"CCB`, "ends too early", 3, 7, 0},
		{`{"version":1,"sites":[` + shop + `],"robots_txt":{"a":{},"b":{"si`, "ends too early", 3, 7, 2},
		{`{"version":1,"sites":[` + shop + "],\x00", "damaged after octet", 3, 7, 0},
		{`{"version":1,"sites":[{"crawlers":[null,{"class":"x"},` + bot + `],"name":"shop.test","people":{"total":3}}]}`, "not used", 3, 7, 0},
		{`{"version":1,"sites":[{"people":{"total":9}},{"name":7},` + shop + `]}`, "no name", 3, 7, 0},
		{`{"version":1,"at":"x","since":7,"sites":[` + shop + `]}`, "not used", 3, 7, 0},
		{`{"version":1,"sites":[` + shop + `],"rules":[null,{"layer":"x","site":"shop.test"},{"layer":"site","reason":"allowed"}]}`, "not used", 3, 7, 0},
		{`{"version":1,"sites":[` + shop + `]}` + "\n" + `{"xxhash64":"0000000000000000"}`, "checksum", 3, 7, 0},
	} {
		c := New(newTestClock().now)
		text := tt.text
		if tt.why == "" {
			text += checksum([]byte(text))
		}
		kept, err := c.Load(strings.NewReader(text))
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) || len(kept) != tt.files {
			t.Errorf("%s: %v, %d files", tt.text, err, len(kept))
		}
		s := c.Summary(statusapi.AllSites(), statusapi.SpanHour)
		if s.People.Total != tt.people || s.Crawlers.Total.Denied != tt.refused {
			t.Errorf("%s: people %d, refused %d", tt.text, s.People.Total, s.Crawlers.Total.Denied)
		}
	}
}

// Whatever is missing at the end of a file, and whichever octet is another one: Load
// notices it, and adds no more than there was.
func TestLoadNoticesDamage(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	for i := range 3 {
		site := c.Site(fmt.Sprintf("%d.test", i))
		site.CountPerson(0)
		site.Count(decision(gptbot, judge.Disallowed), clock.request())
		site.Count(decision(crawler.Agent{Class: crawler.SelfDeclared, Token: "MadeUp"}, judge.CrawlDelay), clock.request())
	}
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	text := saved.Bytes()
	end := bytes.IndexByte(text, '\n')
	load := func(text []byte) (sites int, err error) {
		c := New(clock.now)
		_, err = c.Load(bytes.NewReader(text))
		return len(c.Rows(statusapi.AllSites(), statusapi.SpanHour)), err
	}
	most := 0
	for n := 0; n < end+127; n += 127 {
		sites, err := load(text[:min(n, end)])
		if err == nil || sites < most || sites > 3 {
			t.Fatalf("the first %d octets: %d sites, %v", n, sites, err)
		}
		most = sites
	}
	if most != 3 {
		t.Errorf("without the checksum: %d sites", most)
	}
	for n := 0; n < len(text)-1; n += 97 {
		damaged := bytes.Clone(text)
		damaged[n] ^= 1 << (n % 8)
		if _, err := load(damaged); err == nil {
			t.Errorf("octet %d is %q instead of %q", n, damaged[n], text[n])
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
	if _, err := c.Load(strings.NewReader(saved + checksum([]byte(saved)))); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		c.Site("a.test").Count(decision(gptbot, judge.Allowed), clock.request())
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
	c.Site("example.com").Count(decision(gptbot, judge.Disallowed), clock.request())
	var saved bytes.Buffer
	if err := c.Save(&saved, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(saved.Bytes())
	f.Add([]byte(`{"version":1,"sites":[{"name":"a","people":{"total":1,"series":[1,2,3]}}],"rules":[{"layer":"site","reason":"allowed"}]}`))
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

// A feature can have a reason and a layer of its own.
var (
	_ = judge.RegisterReason(judge.ReasonInfo{Name: "of a feature", Action: judge.Deny})
	_ = judge.RegisterLayer(judge.LayerInfo{Name: "of a feature"})
)

// Each reason and layer that is registered can be saved and loaded.
func TestSaveEveryReasonAndLayer(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	rules, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /private/\n")})
	if err != nil {
		t.Fatal(err)
	}
	for layer := range judge.Layers() {
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
	want, got := c.Summary(all, statusapi.SpanDay).Reasons, restored.Summary(all, statusapi.SpanDay).Reasons
	if len(got) != judge.NumReasons() || !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := len(slices.Collect(restored.Lines(all))); n == 0 || n != len(slices.Collect(c.Lines(all))) {
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
		if n := c.Summary(statusapi.AllSites(), statusapi.SpanHour).People.Total; n != tt.want {
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
				site.Host(host, clock.now()).Count(decision(gptbot, judge.Disallowed), clock.requestTo(host))
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
