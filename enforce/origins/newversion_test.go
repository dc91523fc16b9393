package origins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// version is an answer of a source, from a time on.
type version struct {
	at   time.Duration
	body string // "404" and "502" are statuses
}

func answer(s *fake.Source, body string) {
	switch body {
	case "404", "502":
		var status int
		fmt.Sscan(body, &status)
		s.Set(status, "")
	default:
		s.Set(200, body)
	}
}

// A version that may be a part of a file counts when two reads find the same rules,
// or with the third read. Meanwhile the version before it stays in force.
func TestNewVersionIsReadAgain(t *testing.T) {
	t.Parallel()
	const before = "User-agent: *\nDisallow: /a/\nDisallow: /b/\nCrawl-delay: 1\n"
	const less, other, more = "User-agent: *\nDisallow: /a/\nCrawl-delay: 1\n", "User-agent: *\nDisallow: /b/\nCrawl-delay: 1\n", before + "Disallow: /c/\n"
	for name, tt := range map[string]struct {
		versions []version // the first one, which the first read finds at 0, is before
		counts   time.Duration
		want     string // what counts then; "" if nothing may
	}{
		"more rules":                   {[]version{{0, more}}, 0, more},
		"a wider rule":                 {[]version{{0, "User-agent: *\nDisallow: /\nAllow: /$\nCrawl-delay: 1\n"}}, 0, "User-agent: *\nDisallow: /\nAllow: /$\nCrawl-delay: 1\n"},
		"another comment":              {[]version{{0, "# new\n" + before[:len(before)-1]}}, 0, "# new"},
		"fewer rules":                  {[]version{{0, less}}, time.Second, less},
		"without Crawl-delay":          {[]version{{0, strings.Replace(before, "Crawl-delay: 1\n", "", 1)}}, time.Second, before[:40]},
		"empty":                        {[]version{{0, ""}}, time.Second, ""},
		"404":                          {[]version{{0, "404"}}, time.Second, ""},
		"a page":                       {[]version{{0, "<!DOCTYPE html>\n"}}, -1, ""},
		"everybody shut out":           {[]version{{0, "User-agent: *\nDisallow: /\n"}}, time.Second, "Disallow: /\n"},
		"a search engine shut out":     {[]version{{0, before + "\nUser-agent: bingbot\nDisallow: /\n"}}, time.Second, "bingbot"},
		"within a line":                {[]version{{0, more[:len(more)-1]}}, time.Second, more[:len(more)-1]},
		"a time stamp":                 {[]version{{0, less + "# 1\n"}, {time.Second, less + "# 2\n"}}, time.Second, less},
		"written in two parts":         {[]version{{0, ""}, {200 * time.Millisecond, more}}, time.Second, more},
		"written in two parts, less":   {[]version{{0, ""}, {200 * time.Millisecond, less}}, 10 * time.Second, less},
		"a slow upload":                {[]version{{0, ""}, {500 * time.Millisecond, less}, {5 * time.Second, before[:30]}}, 10 * time.Second, before[:30]},
		"written and restored":         {[]version{{0, ""}, {500 * time.Millisecond, before}}, -1, ""},
		"always another one":           {[]version{{0, ""}, {500 * time.Millisecond, less}, {5 * time.Second, other}}, 10 * time.Second, other},
		"a failure between":            {[]version{{0, ""}, {500 * time.Millisecond, "502"}, {5 * time.Second, before}}, -1, ""},
		"more rules in place of fewer": {[]version{{0, less}, {500 * time.Millisecond, more}}, time.Second, more},
	} {
		for _, shared := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					source := &fake.Source{Partly: true, Shared: shared}
					source.Set(200, before)
					p := retryOrigins(t, source, nil)
					r := &judge.Request{Origin: judge.NewOrigin("https", "example.com", 443), Time: time.Now()}
					p.Prefetch(context.Background(), r)
					first := p.RulesOf(r.Origin)
					time.Sleep(2 * time.Second)
					began := time.Now()
					i := 0
					for step := 0 * time.Millisecond; step <= 12*time.Second; step += 100 * time.Millisecond {
						time.Sleep(time.Until(began.Add(step)))
						for i < len(tt.versions) && tt.versions[i].at <= step {
							answer(source, tt.versions[i].body)
							i++
						}
						if step == 0 {
							p.Refetch(&judge.Request{Origin: r.Origin, Time: time.Now()})
						}
						synctest.Wait()
						if now := p.RulesOf(r.Origin); now != first && (tt.counts < 0 || step < tt.counts) {
							t.Fatalf("after %v, this is in force: %v %q", step, now.Outcome(), now.Text())
						} else if tt.counts >= 0 && step == tt.counts+100*time.Millisecond && (now == first || !strings.Contains(string(now.Text()), tt.want)) {
							t.Fatalf("after %v, this is in force: %v %q", step, now.Outcome(), now.Text())
						}
					}
					for s := range p.States(nil) {
						if !s.Held.IsZero() {
							t.Error("a version is held for ever")
						}
					}
				})
			})
		}
	}
}

// A first version counts at once, but is read again if it may be a part.
func TestFirstVersionThatBreaksOff(t *testing.T) {
	t.Parallel()
	for body, reads := range map[string]int{"": 2, "User-agent: *\nDisallow: /a": 2, "User-agent: *\nDisallow: /a\n": 1, "404": 1} {
		synctest.Test(t, func(t *testing.T) {
			source := &fake.Source{Partly: true}
			answer(source, body)
			p := retryOrigins(t, source, nil)
			r := &judge.Request{Origin: judge.NewOrigin("https", "example.com", 443), Time: time.Now()}
			p.Prefetch(context.Background(), r)
			source.Set(200, "User-agent: *\nDisallow: /a\nDisallow: /b/\n")
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if n := source.Count(r.Origin); n != reads || reads == 2 && p.RulesOf(r.Origin).RuleCount() != 2 {
				t.Errorf("%q: %d reads, want %d", body, n, reads)
			}
		})
	}
}

// A new version at an invented host is read again only when requests come. Nothing
// is planned for it.
func TestNewVersionAtAnInventedHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := &fake.Source{Partly: true}
		source.Set(200, "User-agent: *\nDisallow: /a/\n")
		p := retryOrigins(t, source, nil)
		peek := func() bool {
			r := &judge.Request{Origin: judge.NewOrigin("https", "example.com", 443), Time: time.Now(), Invented: true}
			p.Peek(r)
			rules := p.Wait(context.Background(), r)
			synctest.Wait()
			return rules.Outcome() == judge.Missing
		}
		peek()
		answer(source, "404")
		time.Sleep(time.Minute)
		if peek() || source.Count(judge.NewOrigin("https", "example.com", 443)) != 2 {
			t.Error("the version counts at once")
		}
		time.Sleep(time.Hour)
		if n := source.Count(judge.NewOrigin("https", "example.com", 443)); n != 2 {
			t.Errorf("%d reads without a request", n)
		}
		if !peek() {
			t.Error("the next request does not wait for the second read")
		}
	})
}

// A reload is no second read, and the operator's word is one, but not for a file that
// ends within a line.
func TestReloadAndRefreshOfANewVersion(t *testing.T) {
	t.Parallel()
	origin := judge.NewOrigin("https", "example.com", 443)
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			source, copies := &fake.Source{Partly: true, Shared: shared}, new(Copies)
			source.Set(200, "User-agent: *\nDisallow: /a/\n")
			p := retryOrigins(t, source, copies)
			p.Prefetch(context.Background(), &judge.Request{Origin: origin, Time: time.Now()})
			answer(source, "404")
			q := retryOrigins(t, source, copies)
			if shared {
				q.Load(context.Background())
			} else {
				q.Prefetch(context.Background(), &judge.Request{Origin: origin, Time: time.Now()})
			}
			if q.RulesOf(origin).Outcome() != judge.Loaded {
				t.Error("after a reload the new version counts at once")
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if q.RulesOf(origin).Outcome() != judge.Missing {
				t.Error("a second after a reload the new version does not count")
			}

			for body, wait := range map[string]time.Duration{"User-agent: *\nAllow: /\n": 0, "": 0, "User-agent: *\nAllow: /x": time.Second} {
				source.Set(200, "User-agent: *\nDisallow: /a/\n")
				refresh := func() (ev FetchEvent) {
					q.Refresh(context.Background(), func(judge.Origin) bool { return true }, func(e FetchEvent) { ev = e })
					return ev
				}
				refresh()
				source.Set(200, body)
				began := time.Now()
				if ev := refresh(); ev.Held || string(q.RulesOf(origin).Text()) != body || time.Since(began) != wait {
					t.Errorf("%q: %+v after %v, in force: %q", body, ev, time.Since(began), q.RulesOf(origin).Text())
				}
				time.Sleep(time.Minute)
			}
		})
	}
}

// A file that takes another one's place counts at once, if nobody writes to it any
// more. A file that is written again does not.
func TestReplacedFileCountsAtOnce(t *testing.T) {
	t.Parallel()
	const before, less = "User-agent: *\nDisallow: /a/\nDisallow: /b/\n", "User-agent: *\nDisallow: /a/\n"
	write := func(path, text string, age time.Duration) error {
		at := time.Now().Add(-age)
		return errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at))
	}
	for name, tt := range map[string]struct {
		replace func(path string) error
		counts  bool
	}{
		"renamed": {func(path string) error {
			return errors.Join(write(path+".new", less, time.Second), os.Rename(path+".new", path))
		}, true},
		"renamed, a part": {func(path string) error {
			return errors.Join(write(path+".new", less[:28], time.Second), os.Rename(path+".new", path))
		}, true},
		"a link": {func(path string) error {
			return errors.Join(write(path+".new", less, time.Second), os.Remove(path), os.Symlink(path+".new", path))
		}, true},
		"just written": {func(path string) error { return errors.Join(write(path+".new", less, 0), os.Rename(path+".new", path)) }, false},
		"empty": {func(path string) error {
			return errors.Join(write(path+".new", "", time.Second), os.Rename(path+".new", path))
		}, false},
		"in place": {func(path string) error { return write(path, less, time.Second) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "robots.txt")
			if err := write(path, before, time.Second); err != nil {
				t.Fatal(err)
			}
			p := retryOrigins(t, File{path}, nil)
			p.Load(context.Background())
			first := p.RulesOf(fake.Home)
			if err := tt.replace(path); err != nil {
				t.Fatal(err)
			}
			p.Changed()
			e := p.find(&judge.Request{Origin: fake.Home})
			for p.Settle(); e.fetching.Load(); p.Settle() {
			}
			if counts := p.RulesOf(fake.Home) != first; counts != tt.counts {
				t.Errorf("it counts at once: %t", counts)
			}
		})
	}
}
