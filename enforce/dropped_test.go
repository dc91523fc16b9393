package enforce

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// manyHosts is a Source with a file for each host. All name clients that the
// group for `*` does not bind.
type manyHosts struct{ hold sync.Mutex }

func (s *manyHosts) PerOrigin() bool { return true }

func (s *manyHosts) Fetch(ctx context.Context, o judge.Origin) (judge.Response, error) {
	s.hold.Lock()
	defer s.hold.Unlock()
	return judge.Response{Status: 200, Body: fmt.Appendf(nil, "User-agent: *\nDisallow: /private/\n\nUser-agent: %sReader\nUser-agent: curl\nUser-agent: NetCraft\nDisallow: /\n# %s",
		o.Host, strings.Repeat("x", 2000))}, nil
}

// newManyHosts returns an engine with a source, and the time of its clock.
func newManyHosts(t *testing.T, s judge.Settings, source *manyHosts, cfg origins.Config) (*Engine, time.Time) {
	t.Helper()
	c := fake.NewClock()
	cfg.Now = c.Now
	e, err := NewEngine(s, source, throttle.NewMemory(16), nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); e.origins.Settle() })
	return e, c.Now()
}

// At three times each limit, every client that a file binds is refused, and every
// request of a crawler is decided by the file.
func TestThreeTimesTheLimit(t *testing.T) {
	const limit = 60
	for name, cfg := range map[string]origins.Config{
		"max_origins":       {MaxOrigins: limit},
		"max_memory":        {MaxOrigins: 100 * limit, Ceiling: origins.NewCeiling(limit * (5 << 10))},
		"both, with copies": {MaxOrigins: limit, Ceiling: origins.NewCeiling(limit * (5 << 10)), Copies: new(origins.Copies)},
	} {
		for _, invented := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/invented=%t", name, invented), func(t *testing.T) {
				e, now := newManyHosts(t, judge.Settings{Programs: true}, new(manyHosts), cfg)
				decide := func(i int, ua, target string) (d judge.Decision) {
					host := fmt.Sprintf("host%d", i)
					r := &judge.Request{
						Origin: judge.Origin{Scheme: "http", Host: host}, Target: target, UserAgents: []string{strings.ReplaceAll(ua, "HOST", host)},
						Client: "192.0.2.1", Time: now, Invented: invented,
					}
					e.Decide(context.Background(), r, &d)
					return d
				}
				for i := range 3 * limit {
					decide(i, fake.Gptbot, "/")
					decide(i, "SiteSweeper/2.0", "/robots.txt")
				}
				if cfg.MaxOrigins == limit && e.origins.Len() > limit {
					t.Errorf("%d origins", e.origins.Len())
				}
				if used, most := cmp.Or(cfg.Ceiling, origins.NewCeiling(1)).Usage(); used > most {
					t.Errorf("%d octets, at most %d", used, most)
				}
				for _, tt := range []struct{ ua, target string }{
					{fake.Gptbot, "/private/x"}, {fake.Newbot, "/private/x"},
					{"HOSTReader/1.0", "/x"}, {"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 HOSTReader/1.0", "/x"},
					{fake.Curl, "/x"}, {"SiteSweeper/2.0", "/private/x"},
				} {
					for i := range 3 * limit {
						if d := decide(i, tt.ua, tt.target); d.Reason != judge.Disallowed {
							t.Fatalf("%s of host %d: %v", tt.ua, i, d.Reason)
						}
					}
				}
				for i := range 3 * limit {
					if d := decide(i, fake.Chrome, "/private/x"); d.Action != judge.Pass {
						t.Fatalf("a person at host %d: %v", i, d.Reason)
					}
					if d := decide(i, fake.Newbot, "/x"); d.Reason != judge.Allowed {
						t.Fatalf("a crawler at host %d: %v", i, d.Reason)
					}
				}
			})
		}
	}
}

// While an evicted file can't be read, those whom it named wait, like other
// crawlers. People and all others pass.
func TestNamesAfterAnEviction(t *testing.T) {
	src := new(manyHosts)
	e, now := newManyHosts(t, judge.Settings{}, src, origins.Config{MaxOrigins: 1})
	decide := func(ctx context.Context, host, ua string) judge.Reason {
		var d judge.Decision
		e.Decide(ctx, &judge.Request{Origin: judge.Origin{Scheme: "http", Host: host}, Target: "/x", UserAgents: []string{ua}, Time: now}, &d)
		return d.Reason
	}
	for _, host := range []string{"a", "b"} {
		decide(context.Background(), host, fake.Gptbot)
		e.origins.Settle()
	}
	src.hold.Lock()
	ctx, gone := context.WithCancel(context.Background())
	gone() // so that no request waits
	for _, tt := range []struct {
		host, ua string
		want     judge.Reason
	}{
		{"a", fake.Chrome, judge.Person}, {"a", "aReader/1.0", judge.RulesPending}, {"a", fake.Curl, judge.RulesPending}, {"a", "python-requests/2.31.0", judge.NoRules}, {"a", "bReader/1.0", judge.NoRules},
		{"new", fake.Curl, judge.NoRules}, {"new", "aReader/1.0", judge.NoRules},
	} {
		if got := decide(ctx, tt.host, tt.ua); got != tt.want {
			t.Errorf("%s at %s: %v, want %v", tt.ua, tt.host, got, tt.want)
		}
	}
	src.hold.Unlock()
}

// Hosts that come and go at once lose no name: once a request was decided by a
// file, every client that only this file names is refused.
func TestNoNameIsLostBetweenEvictions(t *testing.T) {
	const limit, hosts, clients = 4, 12, 16
	e, now := newManyHosts(t, judge.Settings{}, new(manyHosts), origins.Config{MaxOrigins: limit})
	var read [hosts]atomic.Bool
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := range 400 {
				n := (i*7 + client*5) % hosts
				known, ua := read[n].Load(), fake.Curl
				if i%4 == 0 {
					ua = fake.Gptbot
				}
				var d judge.Decision
				r := &judge.Request{Origin: judge.Origin{Scheme: "http", Host: fmt.Sprint("host", n)}, Target: "/x", UserAgents: []string{ua}, Time: now}
				r.Invented = i%8 == 0 // such as a request before the name was configured
				e.Decide(context.Background(), r, &d)
				if known && ua == fake.Curl && d.Reason != judge.Disallowed {
					t.Errorf("host %d: %v", n, d.Reason)
				}
				if d.Reason == judge.Allowed || d.Reason == judge.Disallowed {
					read[n].Store(true)
				}
			}
		})
	}
	all.Wait()
}
