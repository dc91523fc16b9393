package live

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// watcher is a Reporter with a clock, and counters without requests.
type watcher struct {
	*Reporter
	now    time.Time
	active bool
}

func newWatcher() *watcher {
	w := &watcher{now: time.Date(2026, 11, 21, 14, 30, 10, 0, time.UTC), active: true}
	now := func() time.Time { return w.now }
	w.Reporter = New(App{
		Handlers: func() []*Handler { return nil }, Counters: &Counters{Counters: counters.New(now), Accidents: newAccidents()},
		Now: now, Active: func() bool { return w.active }, Problems: func() []statusapi.Problem { return nil },
	})
	return w
}

// count counts n requests to a site. Those of people have no crawler.
func (w *watcher) count(n int, site string, a crawler.Agent, said claim.State, why judge.Reason) {
	for range n {
		if a == (crawler.Agent{}) {
			w.app.Counters.Site(site).CountPerson(0)
			continue
		}
		d := &judge.Decision{Reason: why, Subject: judge.Subject{Agent: a, Claim: claim.Result{State: said}}}
		if why == judge.RulesPending {
			d.Action = judge.Throttle
		}
		w.app.Counters.Site(site).Count(d, &counters.Request{Time: w.now, Target: "/x"})
	}
}

// pass lets time pass.
func (w *watcher) pass(d time.Duration) {
	for end := w.now.Add(d); w.now.Before(end); w.app.Counters.Fold() {
		w.now = w.now.Add(min(time.Minute, end.Sub(w.now)))
	}
}

// told returns all news, such as "begin flood a.test GPTBot".
func (w *watcher) told() string {
	var list []string
	for {
		n, ok := w.News()
		if !ok {
			return strings.Join(list, ", ")
		}
		list = append(list, strings.TrimSpace(fmt.Sprint(n.State, " ", n.Kind, " ", n.Sites[0], " ", n.Crawler)))
	}
}

var (
	gptbot    = crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("GPTBot"), Token: "GPTBot"}
	ccbot     = crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("CCBot"), Token: "CCBot"}
	googlebot = crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("Googlebot"), Token: "Googlebot"}
	stranger  = crawler.Agent{Class: crawler.SelfDeclared, Token: "$(reboot)Bot"}
	person    crawler.Agent
)

// With many files, reports look from time to time, and a refresh always does.
func TestRefreshLooks(t *testing.T) {
	w := newWatcher()
	for i := range originID(manyFiles + 1) {
		w.app.Counters.files[i] = new(watchedFile)
	}
	w.accidents(statusapi.AllSites())
	w.count(301, "a.test", gptbot, 0, judge.Allowed)
	w.now = w.now.Add(2 * time.Second)
	if found := w.accidents(statusapi.AllSites()); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	_, err := w.Refresh(context.Background(), statusapi.AllSites(), statusapi.RefreshQuery{})
	if found := w.accidents(statusapi.AllSites()); err != nil || len(found) != 1 {
		t.Errorf("after a refresh: %+v, %v", found, err)
	}
}

func TestFloods(t *testing.T) {
	const site = "a.test"
	usual := func(w *watcher, hours int, agents ...crawler.Agent) {
		for range hours {
			for _, a := range agents {
				w.count(120, site, a, 0, judge.Allowed) // 2 a minute
			}
			w.pass(time.Hour)
		}
	}
	for _, tt := range []struct {
		name  string
		flood func(*watcher)
		want  string
	}{
		{"one crawler", func(w *watcher) { usual(w, 6, gptbot); w.count(101, site, gptbot, 0, judge.Allowed) }, "begin flood a.test GPTBot"},
		{"the first night", func(w *watcher) { w.count(301, site, gptbot, 0, judge.Allowed) }, "begin flood a.test GPTBot"},
		{"the first night, 300 a minute", func(w *watcher) { w.count(300, site, gptbot, 0, judge.Allowed) }, ""},
		{"seen in five hours", func(w *watcher) { usual(w, 5, gptbot); w.count(301, site, gptbot, 0, judge.Allowed) }, "begin flood a.test GPTBot"},
		{"the first night, all together", func(w *watcher) {
			for i := range 11 {
				w.count(100, site, crawler.Agent{Class: crawler.SelfDeclared, Token: fmt.Sprint("Bot", i)}, 0, judge.Allowed)
			}
		}, "begin flood a.test all"},
		{"what serves people, all together", func(w *watcher) {
			for _, class := range []crawler.Class{crawler.App, crawler.Webhook, crawler.Probe} {
				usual(w, 6, crawler.Agent{Class: class, Token: "a"})
				w.count(2000, site, crawler.Agent{Class: class, Token: "a"}, 0, judge.Unbound)
			}
		}, ""},
		{"API clients, the first night", func(w *watcher) {
			w.count(2000, site, crawler.Agent{Class: crawler.Library, Token: "okhttp"}, 0, judge.Unbound)
			w.count(2000, site, crawler.Agent{Class: crawler.Program, Token: "x"}, 0, judge.NoRules)
		}, ""},
		{"more API clients than usual", func(w *watcher) {
			okhttp := crawler.Agent{Class: crawler.Library, Token: "okhttp"}
			usual(w, 6, okhttp)
			w.count(2000, site, okhttp, 0, judge.Unbound)
		}, "begin flood a.test library"},
		{"libraries that are held", func(w *watcher) {
			w.count(2000, site, crawler.Agent{Class: crawler.Library, Token: "okhttp"}, 0, judge.Disallowed)
		}, "note flood a.test library"},
		{"one hundred a minute", func(w *watcher) { usual(w, 6, gptbot); w.count(100, site, gptbot, 0, judge.Allowed) }, ""},
		{"not ten times", func(w *watcher) {
			usual(w, 6, gptbot, gptbot, gptbot, gptbot, gptbot, gptbot)
			w.count(120, site, gptbot, 0, judge.Allowed)
		}, ""},
		{"five requests a day", func(w *watcher) {
			for range 5 {
				w.count(1, site, gptbot, 0, judge.Allowed)
				w.pass(4 * time.Hour)
			}
			w.count(20, site, gptbot, 0, judge.Allowed)
		}, ""},
		{"less than a fifth", func(w *watcher) {
			usual(w, 6, gptbot)
			w.count(200, site, gptbot, 0, judge.Allowed)
			w.count(801, site, person, 0, 0)
		}, ""},
		{"a fifth", func(w *watcher) {
			usual(w, 6, gptbot)
			w.count(200, site, gptbot, 0, judge.Allowed)
			w.count(800, site, person, 0, 0)
		}, "begin flood a.test GPTBot"},
		{"refused requests count", func(w *watcher) { usual(w, 6, gptbot); w.count(200, site, gptbot, 0, judge.RulesPending) }, "note flood a.test GPTBot"},
		{"all together", func(w *watcher) { usual(w, 6, gptbot); w.count(300, site, stranger, 0, judge.Allowed) }, "begin flood a.test all"},
		{"a client's name", func(w *watcher) { usual(w, 6, stranger); w.count(300, site, stranger, 0, judge.Allowed) }, "begin flood a.test self-declared"},
		{"a verified search engine", func(w *watcher) {
			usual(w, 6, googlebot)
			w.count(900, site, googlebot, claim.Verified, judge.Allowed)
		}, ""},
		{"one that is not verified", func(w *watcher) {
			usual(w, 6, googlebot)
			w.count(900, site, googlebot, claim.Unverified, judge.Allowed)
		}, "begin flood a.test Googlebot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatcher()
			tt.flood(w)
			got := w.told()
			for _, p := range w.accidents(statusapi.AllSites()) {
				if p.Severity == statusapi.Remark { // it is held, so that no message is sent
					got += "note " + p.Kind + " " + p.Sites[0] + " " + p.Crawler
				}
			}
			if got != tt.want || w.countAccidents()[Flood] != strings.Count(tt.want, "begin") {
				t.Errorf("%s, want %s; the metric is %v", got, tt.want, w.countAccidents())
			}
		})
	}
}

// A flood ends five minutes after its last minute. While it goes on it becomes usual
// only after a day, and its culprit stays, as long as it is one.
func TestFloodsEnd(t *testing.T) {
	w := newWatcher()
	for range 8 {
		w.count(60, "a.test", gptbot, 0, judge.Allowed)
		w.count(60, "a.test", ccbot, 0, judge.Allowed)
		w.pass(time.Hour)
	}
	w.count(200, "a.test", gptbot, 0, judge.Allowed)
	if got := w.told(); got != "begin flood a.test GPTBot" {
		t.Fatal(got)
	}
	for minute := range 7 * 60 {
		w.count(200, "a.test", gptbot, 0, judge.Allowed)
		w.count(201, "a.test", ccbot, 0, judge.Allowed)
		w.pass(time.Minute)
		if got := w.told(); got != "" {
			t.Fatalf("in minute %d: %s", minute, got)
		}
	}
	message := func() string { return w.accidents(statusapi.AllSites())[0].Message }
	if got := message(); got != "GPTBot sends 200 requests a minute to a.test; 1.0 are usual" {
		t.Errorf("while it goes on: %s", got)
	}
	w.count(400, "a.test", gptbot, 0, judge.Allowed)
	w.pass(time.Minute)
	for range 2 {
		w.count(110, "a.test", gptbot, 0, judge.Allowed)
		w.pass(time.Minute)
	}
	if got := message(); got != "GPTBot sends 400 requests a minute to a.test; 1.0 are usual" {
		t.Errorf("while it falls: %s", got)
	}
	end := w.now.UTC().Format("15:04")
	if w.pass(3 * time.Minute); w.told() != "" {
		t.Error("it ends too early")
	}
	if got, want := message(), "GPTBot sent up to 400 requests a minute to a.test, until "+end+" UTC; 1.0 are usual"; got != want {
		t.Errorf("after it: %s, want %s", got, want)
	}
	w.pass(time.Minute)
	if got := w.told(); got != "end flood a.test GPTBot" {
		t.Errorf("at the end: %s", got)
	}
}

// A flood is told in the past tense as soon as the next minute shows that it is over.
func TestFloodsThatAreOver(t *testing.T) {
	w := newWatcher() // at 14:30:10
	w.count(400, "a.test", gptbot, 0, judge.Allowed)
	for _, tt := range []struct {
		pass  time.Duration
		count int
		want  string
	}{
		{45 * time.Second, 0, "GPTBot sends 400"},
		{20 * time.Second, 0, "GPTBot sends 400"},
		{10 * time.Second, 0, "GPTBot sent up to 400 requests a minute to a.test, until 14:31 UTC"},
		{0, 100, "GPTBot sends 400"},
		{80 * time.Second, 0, "GPTBot sent up to 400 requests a minute to a.test, until 14:31 UTC"},
	} {
		w.pass(tt.pass)
		w.count(tt.count, "a.test", gptbot, 0, judge.Allowed)
		p := w.accidents(statusapi.AllSites())[0]
		if !strings.HasPrefix(p.Message, tt.want) || (p.Until == nil) != strings.Contains(tt.want, "sends") {
			t.Errorf("at %s: %s, want %s", w.now.Format(time.TimeOnly), p.Message, tt.want)
		}
	}
}

// What has ended is told in the past tense, with its end, while its accident lasts.
func TestEndedRefusalsAreToldInThePast(t *testing.T) {
	w := newWatcher()
	for range 3 {
		w.count(2, "a.test", googlebot, claim.Verified, judge.RulesPending)
		w.pass(30 * time.Second)
	}
	last := w.now.Add(-30 * time.Second)
	problem := func() statusapi.Problem { return w.accidents(statusapi.AllSites())[0] }
	if p := problem(); p.Until != nil || !strings.Contains(p.Message, "is refused at a.test: 6 requests since ") {
		t.Errorf("while it lasts: %s until %v", p.Message, p.Until)
	}
	w.pass(4 * time.Minute)
	if p := problem(); p.Until == nil || !p.Until.Equal(last) || !strings.Contains(p.Message, "was refused at a.test: 6 requests from ") {
		t.Errorf("four minutes later: %s until %v", p.Message, p.Until)
	}
}

// A run of refusals counts after a minute, and ends ten minutes after the last one.
func TestRefusedSearchEngines(t *testing.T) {
	for _, tt := range []struct {
		name            string
		claim           claim.State
		refused, served int // in each half minute
		want            string
	}{
		{"more than it is served", claim.Verified, 2, 1, "begin search_refused a.test Googlebot"},
		{"as often as it is served", claim.Verified, 2, 2, ""},
		{"a claim", claim.Unverified, 2, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatcher()
			for i := range 3 {
				if got := w.told(); got != "" {
					t.Errorf("after %d refusals: %s", i, got)
				}
				w.count(tt.refused, "a.test", googlebot, tt.claim, judge.RulesPending)
				w.count(tt.served, "a.test", googlebot, tt.claim, judge.Allowed)
				w.pass(30 * time.Second)
			}
			if got := w.told(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			w.pass(9 * time.Minute)
			if got := w.told(); got != "" {
				t.Errorf("nine minutes later: %s", got)
			}
			w.pass(2 * time.Minute)
			if got := w.told(); got != strings.Replace(tt.want, "begin", "end", 1) {
				t.Errorf("at the end: %s", got)
			}
			w.count(1, "a.test", googlebot, tt.claim, judge.RulesPending)
			w.pass(30 * time.Second)
			if got := w.told(); got != "" {
				t.Errorf("one refusal later: %s", got)
			}
		})
	}
}

// A search engine of which more than one verified request in twenty is refused is a problem, and
// no accident.
func TestPartlyRefusedSearchEngines(t *testing.T) {
	for served, want := range map[int]string{
		19: "", 18: "warning search_partly Googlebot, a verified search engine, is refused at a.test: 1 request since 14:30 UTC, and 18 served; the last one by rules or limits",
	} {
		w := newWatcher()
		w.count(1, "a.test", googlebot, claim.Verified, judge.RulesPending)
		w.count(served, "a.test", googlebot, claim.Verified, judge.Allowed)
		got := ""
		for _, p := range w.accidents(statusapi.AllSites()) {
			got += p.Severity + " " + p.Kind + " " + p.Message
		}
		if got != want || w.told() != "" {
			t.Errorf("%d served: %s\nwant %s", served, got, want)
		}
	}
}

// A damaged file of persist adds nothing.
func FuzzLoadFiles(f *testing.F) {
	f.Add([]byte(`{"a":{"source":0,"host":"a.test","sites":["a.test"],"before":{"rules":3,"size":4},"now":{"cause":"missing"},"since":"2026-11-21T00:00:00Z","lost":"missing","subject":"a.test"}}`))
	f.Add([]byte(`{"a":null,"b":{"sites":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := newAccidents()
		_ = a.load(data)
		for _, one := range a.files {
			one.accidents()
		}
		a.save()
	})
}

// Between the end of a fetch and the moment when its rules are in force, there is no
// version of the file.
func TestAFetchThatIsNotInForceYetIsNoVersion(t *testing.T) {
	for _, last := range []judge.Outcome{judge.Loaded, judge.Missing} {
		if p := (&inForce{State: origins.State{Last: last, Kept: true}}); !p.isUnread() {
			t.Errorf("%v counts", last)
		}
		if p := (&inForce{State: origins.State{Last: last}}); p.isUnread() {
			t.Errorf("%v in force does not count", last)
		}
	}
}

// BenchmarkAccidents measures one look for accidents among 10,000 origins.
func BenchmarkAccidents(b *testing.B) {
	const hosts = 10_000
	w, source := newWatcher(), hostNames{}
	engine, err := enforce.NewEngine(judge.Settings{}, source, throttle.NewMemory(1), nil, origins.Config{MaxOrigins: hosts})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	h := &Handler{Site: routes.UnknownSite(nil), Settings: new(config.Settings), Running: running(engine, new(Mode))}
	w.app.Handlers = func() []*Handler { return []*Handler{h} }
	w.Reporter = New(w.app)
	for i := range hosts {
		engine.Origins().Prefetch(context.Background(), &judge.Request{Origin: judge.NewOrigin("https", fmt.Sprintf("h%d.test", i), 443), Time: w.now})
	}
	if n := w.countAccidents()[RulesLost]; n != 0 || len(w.app.Counters.files) != hosts {
		b.Fatalf("%d accidents, %d files", n, len(w.app.Counters.files))
	}
	b.ReportAllocs()
	for b.Loop() {
		w.countAccidents()
	}
}

// hostNames is a source with another file for each host.
type hostNames struct{}

func (hostNames) PerOrigin() bool { return true }

func (hostNames) Fetch(_ context.Context, o judge.Origin) (judge.Response, error) {
	return judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /" + o.Host + "/\n")}, nil
}
