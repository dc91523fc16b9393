package challenge

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// The patterns of a storm name what it is after, and no more than a pattern can say: what clients
// send has no meaning in them.
func TestFold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		target func(i int) string
		want   string
	}{
		"differences of a wiki": {func(i int) string { return fmt.Sprintf("/w/index.php?title=T%d&diff=%d&oldid=%d", i, i+1, i) }, "/w/index.php?*diff="},
		"blame of a forge":      {func(i int) string { return fmt.Sprintf("/u%d/r%d/blame/%d/f%d.go", i%9, i%7, i, i) }, "/*/*/blame/*"},
		"two kinds of a forge": {func(i int) string {
			return fmt.Sprintf("/git/u%d/r%d/%s/%d", i%9, i%7, []string{"blame", "commits"}[i%2], i)
		}, "/git/*/*/blame/* /git/*/*/commits/*"},
		"mostly one user's":  {func(i int) string { return fmt.Sprintf("/u%d/r%d/blame/%d", i%31*min(1, i%3), i%7, i) }, "/*/*/blame/*"},
		"one repository":     {func(i int) string { return fmt.Sprintf("/u/r/blame/%d", i) }, "/u/r/blame/*"},
		"a search":           {func(i int) string { return fmt.Sprintf("/search?q=%d%s", i, []string{"", "&page=2"}[i%2]) }, "/search?*page= /search?*q="},
		"the front page":     {func(int) string { return "/" }, "/$"},
		"one page":           {func(int) string { return "/a/b" }, "/a/b$"},
		"all pages":          {func(i int) string { return fmt.Sprintf("/post-%d", i) }, "/*"},
		"a calendar":         {func(i int) string { return fmt.Sprintf("/calendar/%d/%d/", 2000+i, i%12) }, "/calendar/*"},
		"what has a meaning": {func(i int) string { return fmt.Sprintf("/a b}/{env.X}`\n/*$/x?{y}=1&z'=%d", i) }, "/*/*/*/x?"},
		"a long target":      {func(i int) string { return "/x" + strings.Repeat("/y", 100) + "?" + strings.Repeat("a=&", 100) }, "/x" + strings.Repeat("/y", 5) + "/*?"},
		"a folder":           {func(int) string { return "/a/b/" }, "/a/b/$"},
	} {
		var targets []string
		for i := range samples {
			targets = append(targets, tt.target(i))
		}
		got := cost.Fold(targets)
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, " "), tt.want)
		}
		pathsOf(t, got...)
	}
}

// A storm on pages that nothing disallows is seen, with its paths and its User-Agent, and people
// are not. Where nobody fetches what pages embed, it is not known what is a storm; a few others, or
// one that comes often, don't say so.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		embeds, want bool
		others       int // addresses that read the front page and others
		embedding    int // one in so many of these fetches what it embeds; 0: none
		doubt        string
		program      bool // strangers name themselves
	}{
		"strangers":               {want: true},
		"people":                  {embeds: true},
		"among people":            {want: true, others: 200, embedding: 1},
		"robots want other pages": {want: true, others: 200, embedding: 4},
		"programs":                {want: true, others: 200, embedding: 1, doubt: programs, program: true},
		"files elsewhere":         {want: true, others: 200, doubt: elsewhere},
		"a few others":            {want: true, others: 5},
		"a program on its round":  {want: true, others: 1},
	} {
		s := newSite(t, func(c *Config) { *c = Config{name: "storms", over: 60, window: time.Minute, paths: pathsOf(t, "/*")} })
		for i := range 900 {
			if i%10 == 0 {
				s.now = s.now.Add(time.Second)
			}
			agent := chrome
			if tt.program {
				agent = "Go-http-client/1.1"
			}
			s.watch(fmt.Sprintf("/w/index.php?title=T&diff=%d", i), address(i), "User-Agent", agent)
			if tt.embeds {
				s.watch("/style.css", address(i))
			}
			if tt.others == 0 || i%2 != 0 {
				continue
			}
			other := address(1<<16 + i%tt.others)
			s.watch([]string{"/", fmt.Sprintf("/about/%d", i)}[i/2%2], other)
			if tt.embedding > 0 && i/2%tt.embedding == 0 {
				s.watch("/style.css", other)
			}
		}
		for storm := range s.check.Storms {
			if on := storm.IsOn(uint32(s.now.Unix()), nil); on != tt.want {
				t.Errorf("%s: a storm: %v", name, on)
			}
			patterns, doubt := s.check.stormed(storm, "")
			p := step.Problem{}
			storm.name(&p, patterns)
			if doubt != tt.doubt || tt.want && (!slices.Contains(patterns, "/w/index.php?*diff=") || !tt.program && !strings.Contains(p.Message, chrome)) {
				t.Errorf("%s: %s, %s; doubt: %q", name, patterns, p.Message, doubt)
			}
		}
	}
}

// Many people who share an address, as behind a proxy, are no storm.
func TestSharedAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { *c = Config{name: "storms", over: 60, window: time.Minute, paths: pathsOf(t, "/*")} })
	for i := range 6000 {
		if i%100 == 0 {
			s.now = s.now.Add(time.Second)
		}
		s.watch(fmt.Sprintf("/p/%d", i), address(i%100))
		s.watch("/style.css", address(i%100))
	}
	for storm := range s.check.Storms {
		if patterns, _ := s.check.stormed(storm, ""); storm.IsOn(uint32(s.now.Unix()), nil) && len(patterns) > 0 {
			t.Errorf("a storm of %s", patterns)
		}
	}
}

// A file that a page embeds takes the page back from the check, and from what is watched beside it.
func TestCheckAndWatchCountApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.paths = pathsOf(t, "/*") })
	watch := New(s.memory, Config{name: "storms", over: 60, window: time.Minute, paths: pathsOf(t, "/*")}, handlerKey)
	for _, target := range []string{"/a", "/a.css"} {
		x := s.request("GET", target, "192.0.2.1")
		s.check.decide(x)
		watch.watch(x)
		watch.Respond(x, httptest.NewRecorder())
		s.answer(x, backend{})
		watch.slot.Of(x).media = s.check.slot.Of(x).media
		watch.End(x)
	}
	for _, c := range []*Check{s.check, watch} {
		for storm := range c.Storms {
			if all, lone, _ := storm.sum(uint32(s.now.Unix()), 0); lone != 0 {
				t.Errorf("%s: %d of %d pages are lone", c.name, lone, all)
			}
		}
	}
}

// A storm in which nobody is asked was over at once, or is one of crawlers' names.
func TestStormOfCrawlersNames(t *testing.T) {
	c, p := &Challenge{Check: newSite(t, nil).check}, step.Problem{Sites: []string{"example.com"}, Since: &noon}
	c.describe(seen{&Storm{Host: "example.com"}, "", 1}, &p, false)
	if !strings.HasPrefix(p.Message, "Handled: after a storm on pages of `") || !strings.Contains(p.Message, "no stranger came, or only with names of crawlers") {
		t.Errorf("%s", p.Message)
	}
}

// A fleet with one User-Agent that fetches style sheets is named: if it comes fast, and wants what others
// hardly do.
func TestFleetThatFetchesStyleSheets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		every  time.Duration
		agents int // of the visitors of these pages
		want   bool
	}{
		"fleet":        {100 * time.Millisecond, 1, true},
		"slow":         {15 * time.Second, 1, false},
		"all browsers": {100 * time.Millisecond, 10, false},
	} {
		s := newSite(t, func(c *Config) {
			*c = Config{name: "storms", over: watchedOver, window: watchedWindow, paths: pathsOf(t, "/*")}
		})
		for i := range 600 {
			s.now = s.now.Add(tt.every)
			target, agent := fmt.Sprintf("/o%d/r%d/blame/main/f%d.go", i%7, i%11, i), chrome
			if agent += fmt.Sprint(i % tt.agents); i%3 == 0 {
				target, agent = fmt.Sprintf("/o%d/r%d", i%7, i%11), fmt.Sprint(chrome, i/3%10)
			}
			s.watch(target, address(i), "User-Agent", agent)
			s.watch("/style.css", address(i), "User-Agent", agent)
		}
		for storm := range s.check.Storms {
			p, ok := storm.fleet("", s.now)
			if storm.IsOn(uint32(s.now.Unix()), nil) || ok != tt.want || ok &&
				(p.Now < 6000 || p.Now > 7000 || !strings.Contains(p.Message, "the User-Agent \""+chrome+"0\" gets pages of `/*/*/blame/") || strings.Contains(p.Plain, "Mozilla") ||
					!strings.Contains(p.Advice, "`challenge /*/*/blame/")) {
				t.Errorf("%s: %v %+v", name, ok, p)
			}
			if p, ok := storm.fleet("", s.now.Add(minute*time.Second)); ok {
				t.Errorf("%s: a minute later it still comes: %s", name, p.Message)
			}
		}
	}
}
