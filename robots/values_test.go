package robots

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCrawlDelay(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"10": 10 * time.Second, "0.5": 500 * time.Millisecond, ".5": 500 * time.Millisecond, "5.": 5 * time.Second,
		"0": 0, "007": 7 * time.Second, "99999999999999999999": 1<<63 - 1,
		"": -1, "-1": -1, "+1": -1, "1,5": -1, "1.2.3": -1, ".": -1, "10s": -1, "1e3": -1, "Inf": -1, "NaN": -1, "0x1": -1, "ten": -1,
	} {
		d, ok := Parse([]byte("User-agent: *\nCrawl-delay: " + value)).Star().CrawlDelay()
		if !ok {
			d.Delay = -1
		}
		if d.Delay != want {
			t.Errorf("Crawl-delay: %s = %v, want %v", value, d.Delay, want)
		}
		if ok && d.Line != 2 {
			t.Errorf("Crawl-delay: %s is on line %d, want 2", value, d.Line)
		}
	}
}

// A Crawl-delay applies to the crawlers on the User-agent lines directly above
// it. Groups are never combined with the group for `*`.
func TestCrawlDelayGroups(t *testing.T) {
	f := Parse([]byte("Crawl-delay: 3\nUser-agent: a\nCrawl-delay: 10\nUser-agent: b\nDisallow: /1\n\n" +
		"User-agent: c\nUser-agent: d\nCrawl-delay: x\nCrawl-delay: 7\n\nUser-agent: *\nCrawl-delay: 30\n\n" +
		"User-agent: D\nCrawl-delay: 5\n"))
	for agent, want := range map[string]float64{"a": 10, "b": -1, "c": 7, "d": 5, "e": 30} {
		got := -1.0
		if d, ok := f.Group(agent).CrawlDelay(); ok {
			got = d.Delay.Seconds()
		}
		if got != want {
			t.Errorf("Crawl-delay of %s = %v, want %v", agent, got, want)
		}
	}
	if f.Group("a").Match("/1").Allowed {
		t.Error("/1 is allowed for a: the Crawl-delay ended its group")
	}
}

// Conner, "An Extended Standard for Robot Exclusion", 1996
func TestRequestRate(t *testing.T) {
	day := WholeDay
	tests := []struct {
		value string
		want  RequestRate
	}{
		{"1/10", RequestRate{1, 10 * time.Second, day, 2}},
		{"30/1m", RequestRate{30, time.Minute, day, 2}},
		{"1/10M 1300-1659", RequestRate{1, 10 * time.Minute, Window{13 * 60, 16*60 + 59}, 2}},
		{"400/1h", RequestRate{400, time.Hour, day, 2}},
		{"9/4d", RequestRate{9, 96 * time.Hour, day, 2}},
		{"8/2m 07:00-21:00", RequestRate{8, 2 * time.Minute, Window{7 * 60, 21 * 60}, 2}},
		{"8/2m 22.00 - 06.00", RequestRate{8, 2 * time.Minute, Window{22 * 60, 6 * 60}, 2}},
		{"1/1s 7-21", RequestRate{1, time.Second, day, 2}}, // the window is malformed, the rate is not
		{"1000000000/1000000000h", RequestRate{1000000000, 1<<63 - 1, day, 2}},
	}
	for _, tt := range tests {
		rates := Parse([]byte("User-agent: *\nRequest-rate: " + tt.value)).Star().RequestRates()
		if len(rates) != 1 || rates[0] != tt.want {
			t.Errorf("Request-rate: %s = %v, want %v", tt.value, rates, tt.want)
		}
	}
	for _, value := range []string{"", "5", "1/", "/1", "1/0", "0/1", "-1/5", "1/-5", "1/5w", "1/banana", "1.5/2", "1/1.5", "99999999999/1", "1 / 10"} {
		if rates := Parse([]byte("User-agent: *\nRequest-rate: " + value)).Star().RequestRates(); len(rates) > 0 {
			t.Errorf("Request-rate: %s = %v, want none", value, rates)
		}
	}
}

func TestVisitTime(t *testing.T) {
	for value, want := range map[string]string{
		"0600-0845": "0600-0845", "0200 0630": "0200-0630", "1700-0459": "1700-0459", "06:00-08:45": "0600-0845",
		"0000-2400": "0000-2359", "2400-0100": "0000-0100", "0600 - 0845": "0600-0845",
		"": "", "0600": "", "600-845": "", "0660-0845": "", "2500-0100": "", "2401-0100": "", "06-08": "", "0600-0845-0900": "", "abcd-efgh": "",
	} {
		got := ""
		if v := Parse([]byte("User-agent: *\nVisit-time: " + value)).Star().VisitTimes(); len(v) > 0 {
			got = v[0].Window.String()
		}
		if got != want {
			t.Errorf("Visit-time: %s = %q, want %q", value, got, want)
		}
	}
}

// Of several lines, the first 16 in the file count, also if they are below
// different User-agent lines.
func TestFirstLimits(t *testing.T) {
	lines := func(from, to int) (text string) {
		for i := from; i < to; i++ {
			text += fmt.Sprintf("Visit-time: %02d00-%02d30\n", i, i)
		}
		return text
	}
	f := Parse([]byte("User-agent: a\n" + lines(0, 4) + "Disallow: /1\nUser-agent: a\nUser-agent: b\n" + lines(4, 8) +
		"Disallow: /2\nUser-agent: a\n" + lines(8, 24)))
	visits := f.Named("a").VisitTimes()
	if len(visits) != 16 {
		t.Fatalf("%d lines, want 16", len(visits))
	}
	for i, v := range visits {
		if v.Window.From != 60*i {
			t.Errorf("line %d has the window %v", i, v.Window)
		}
	}
}

func TestNonRuleLines(t *testing.T) {
	f := Parse([]byte("License: https://x.test/l.xml\nContent-Signal: search=yes, ai-train=no\nUser-agent: a\n" +
		"Content-Signal: AI-Train = yes ,use=full, x\nContent-Usage: /p train-ai=n\nContent-Usage: search=y\nNoindex: /n*x$\n" +
		"Clean-param: s&ref /forum/\nHost: a.test\nSitemap: /s.xml\nX-Thing: 1\nComment: by night only\nHost: b.test\n"))
	g := f.Named("a")
	if s := f.ContentSignals(); len(s) != 1 || s[0].Line != 2 {
		t.Errorf("Content-Signal for all: %v", s)
	}
	s := g.ContentSignals()
	if len(s) != 1 || s[0].Line != 4 || len(s[0].Preferences) != 2 {
		t.Fatalf("Content-Signal: %+v", s)
	}
	if v, ok := lastPreference(s[0].Preferences, "ai-train"); !ok || v != "yes" {
		t.Errorf("ai-train = %q, %v", v, ok)
	}
	u := g.ContentUsage()
	if len(u) != 2 || u[0].Path != "/p" || u[1].Path != "" {
		t.Fatalf("Content-Usage: %+v", u)
	}
	if v, ok := lastPreference(u[0].Preferences, "Train-AI"); !ok || v != "n" {
		t.Errorf("train-ai = %q, %v", v, ok)
	}
	var v Views
	for _, target := range []string{"/n/y/x", "/a/..//n/x"} {
		v.Reset(target, ViewOptions{})
		if r := g.NoindexViews(&v); r.Line == 0 || r.Line != 7 || r.String() != "Noindex: /n*x$" {
			t.Errorf("%s: %v", target, r)
		}
	}
	if v.Reset("/n/y/xy", ViewOptions{}); g.NoindexViews(&v).Line > 0 {
		t.Error("the line matches /n/y/xy")
	}
	if l := f.Licenses(); len(l) != 1 || l[0].Line != 1 {
		t.Errorf("License: %v", l)
	}
}

func TestLimitStrings(t *testing.T) {
	for line, want := range map[string]string{
		"1/10":           "1/10s",
		"100/15m":        "100/15m",
		"400/60m":        "400/1h",
		"1/1d 0600-0845": "1/24h 0600-0845",
	} {
		r, ok := parseRequestRate(&field{value: line})
		if !ok || r.String() != want {
			t.Errorf("%s: %s, want %s", line, r, want)
		}
		again, ok := parseRequestRate(&field{value: r.String()})
		if !ok || again != r {
			t.Errorf("%s: read again %v, want %v", line, again, r)
		}
	}
	if got := (CrawlDelay{Delay: 1500 * time.Millisecond}).String(); got != "1.5" {
		t.Errorf("Crawl-delay %s, want 1.5", got)
	}
}

// lastPreference returns the last value of a key, ignoring case.
func lastPreference(list []Preference, key string) (value string, ok bool) {
	for _, p := range list {
		if strings.EqualFold(p.Key, key) {
			value, ok = p.Value, true
		}
	}
	return value, ok
}
