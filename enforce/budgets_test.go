package enforce

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A crawler's budgets can be read and reset.
func TestBudgets(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{})
	agent := e.Agent("bingbot", nil)
	if agent.Crawler == nil || agent.Crawler.Name != "bingbot" {
		t.Fatalf("bingbot is %+v", agent)
	}
	list := e.Budgets(fake.Home, &agent, false)
	if len(list) != 1 || list[0].PerAddr || list[0].Pool {
		t.Fatalf("%+v", list)
	}
	if r, used := e.limiter.Peek(e.clock.Now(), list[0].Key, list[0].Limits); !r.OK || used {
		t.Errorf("before the first request: %+v, %t", r, used)
	}
	e.decide("/", fake.Bingbot)
	if r, used := e.limiter.Peek(e.clock.Now(), list[0].Key, list[0].Limits); r.OK || !used || r.RetryAfter == 0 {
		t.Errorf("after it: %+v, %t", r, used)
	}
	if err := e.limiter.Forget(context.Background(), e.clock.Now(), list[0].Key); err != nil {
		t.Fatal(err)
	}
	if d := e.decide("/", fake.Bingbot); d.Action != judge.Pass {
		t.Errorf("after it was forgotten: %v", d.Reason)
	}
	wget := e.Agent("Wget", nil)
	if list := e.Budgets(fake.Home, &wget, false); len(list) != 1 || !list[0].PerAddr {
		t.Errorf("wget: %+v", list)
	}
	google := e.Agent("Googlebot", nil) // does not support Crawl-delay
	if list := e.Budgets(judge.NewOrigin("https", "unread.test", 443), &google, false); len(list) > 1 {
		t.Errorf("Googlebot: %+v", list)
	}
	if a := e.Agent("NoSuchBot", nil); a.Class != crawler.SelfDeclared || a.Token != "NoSuchBot" {
		t.Errorf("an unknown name: %+v", a)
	}
}

// keyRecorder is a Limiter that records the keys of the budgets that are used.
type keyRecorder struct {
	throttle.Limiter
	keys []string
}

func (l *keyRecorder) Take(_ context.Context, _ time.Time, uses []throttle.Use) throttle.Result {
	for _, u := range uses {
		l.keys = append(l.keys, fmt.Sprintf("%016x", u.Key))
	}
	return throttle.Result{OK: true}
}

// Servers of several versions share budgets only if these have the same keys. If one
// has to change, see wireForm in package throttle.
func TestKeysAreThoseOf010(t *testing.T) {
	const file = "User-agent: *\nCrawl-delay: 5\n"
	limits := []judge.Limit{{Paths: []string{"/archive/*"}, All: every(1, time.Hour), Each: every(2, time.Hour)}}
	var got strings.Builder
	for name, settings := range map[string]judge.Settings{"default": {}, "monitor": {Monitor: true}, "per_ip": {PerIP: true}, "limit": {Limits: limits}} {
		for ua, what := range map[string]string{fake.Bingbot: "bingbot", fake.Newbot: "NewThingBot", fake.Wget: "Wget"} {
			l := new(keyRecorder)
			e, err := NewEngine(settings, origins.Inline(file), l, nil, origins.Config{Refresh: 24 * time.Hour, Now: fake.NewClock().Now, Handler: func() origins.HandlerKey { return origins.HandlerKey{Hosts: []string{"shop.test"}} }})
			if err != nil {
				t.Fatal(err)
			}
			e.origins.Load(t.Context())
			var d judge.Decision
			e.Decide(t.Context(), &judge.Request{Target: "/archive/1", UserAgents: []string{ua}, Origin: judge.NewOrigin("https", "shop.test", 443), Client: "203.0.113.9", Time: fake.NewClock().Now()}, &d)
			e.Close()
			fmt.Fprintf(&got, "%s %s %s\n", name, what, strings.Join(l.keys, " "))
		}
	}
	lines := slices.Sorted(strings.Lines(got.String()))
	if got := strings.Join(lines, ""); got != keysOf010 {
		t.Errorf("the keys are\n%swant\n%s", got, keysOf010)
	}
}

//go:embed testdata/keys-0.1.0.txt
var keysOf010 string

// Each pool of a limit has a name of its own.
func TestNamesOfPools(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{Limits: []judge.Limit{{All: every(1, time.Hour), AtOnce: 2, Include: []string{"search"}}}})
	keys := make(map[throttle.Key]string)
	for name, want := range map[string]string{
		"GPTBot": "crawlers", "AhrefsBot": "crawlers", "Googlebot": "search_unverified", "bingbot": "search_unverified",
	} {
		a := e.Agent(name, nil)
		for _, verifiable := range []bool{false, true} {
			for _, b := range e.limitBudgets(nil, nil, &a, verifiable) {
				if b.Sharers != want && !(verifiable && want == "search_unverified" && b.Sharers == "search") {
					t.Errorf("%s: pool %q, want %q", name, b.Sharers, want)
				}
				if other, known := keys[b.Key]; known && other != b.Sharers {
					t.Errorf("%s: a pool of %q and %q", name, other, b.Sharers)
				}
				keys[b.Key] = b.Sharers
			}
		}
	}
	if len(keys) != 6 {
		t.Errorf("%d pools of two lines: %v", len(keys), keys)
	}
}
