package live_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// tenants answers for each host with a file of its own.
type tenants struct{}

func (tenants) PerOrigin() bool { return true }

func (tenants) Fetch(_ context.Context, o judge.Origin) (judge.Response, error) {
	return judge.Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /private/\nDisallow: /of-" + o.Host + "/\n")}, nil
}

// manyHosts returns a reporter for a catch-all site with hosts that had requests of
// people and three crawlers on two days, and a function that lets two seconds pass.
func manyHosts(tb testing.TB, hosts int) (r *live.Reporter, pass func()) {
	clock := fake.NewClock()
	counts := live.NewCountersAt(clock.Now)
	counts.SetRoom(1 << 30)
	ceiling := origins.NewCeiling(1 << 30)
	engine, err := enforce.NewEngine(judge.Settings{}, tenants{}, throttle.NewMemory(16), enforce.NewMemory(16, 16), origins.Config{
		MaxOrigins: hosts, Ceiling: ceiling, Now: clock.Now,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { engine.Close() })
	count := func() {
		now := clock.Now()
		for i := range hosts {
			origin := judge.NewOrigin("https", fmt.Sprintf("t%d.example", i), 443)
			r := &judge.Request{Origin: origin, Time: now, Invented: true}
			engine.Origins().Prefetch(context.Background(), r)
			host := counts.Site(statusapi.AnySite).Host(origin.Host)
			host.CountPerson(0)
			for _, name := range []string{"Googlebot", "GPTBot", "bingbot"} {
				for _, target := range []string{"/", "/private/x"} {
					var d judge.Decision
					r.Target, r.UserAgents, r.Client = target, []string{name}, "192.0.2.1"
					engine.Decide(context.Background(), r, &d)
					host.Count(&d, &counters.Request{Time: now, Origin: origin, Target: target, UserAgents: r.UserAgents})
				}
			}
		}
		counts.Fold()
	}
	for range 3 {
		count()
		clock.Advance(24 * time.Hour)
		counts.Fold()
	}
	count()
	server := routes.NewServer(&caddyhttp.Server{Listen: []string{":443"}})
	modes := live.NewModes(new(config.Settings), engine.Registry())
	h := &live.Handler{
		Site: &routes.Site{Server: server, Hosts: []string{statusapi.AnySite}}, Settings: new(config.Settings),
		Running: func() (*enforce.Engine, *live.Modes) { return engine, modes },
	}
	return live.New(live.App{
		Handlers: func() []*live.Handler { return []*live.Handler{h} }, Counters: counts, Ceiling: ceiling, Log: zap.NewNop(),
		Now: clock.Now, Active: func() bool { return true },
		Problems: func() []statusapi.Problem { return nil },
	}), func() { clock.Advance(2 * time.Second) }
}

// The scope of a host has the robots.txt of that host, and that of its pattern those of all.
func TestOriginsOfAHost(t *testing.T) {
	r, _ := manyHosts(t, 3)
	for scope, want := range map[string]int{"t1.example": 1, "t2.example": 1, "t3.example": 0, statusapi.AnySite: 3} {
		list, err := r.Status(statusapi.Sites(scope), statusapi.Query{Span: statusapi.SpanDay})
		if err != nil || list.Origins.Origins != want || want == 1 && list.Files[0].Origin != "https://"+scope {
			t.Errorf("%s: %+v, %v, want %d", scope, list, err, want)
		}
		lines, err := r.Lines(statusapi.Sites(scope), statusapi.LinesQuery{Refused: true})
		if err != nil || lines.Total != want {
			t.Errorf("%s: %+v, %v, want %d", scope, lines, err, want)
		}
	}
}

// BenchmarkManyHosts measures what the page and the command status ask for, with 10,000
// hosts of a catch-all site.
func BenchmarkManyHosts(b *testing.B) {
	r, pass := manyHosts(b, 10_000)
	ask := func(route, query string) (octets int) {
		w := httptest.NewRecorder()
		if err := statusapi.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/robots/"+route+"?"+query, nil), route, r, statusapi.AllSites()); err != nil || w.Code != 200 {
			b.Fatal(err, w.Code)
		}
		return w.Body.Len()
	}
	page := func(query string) (octets int) { return ask("", "limit=20"+query) }
	for _, bb := range []struct {
		name string
		ask  func() int
	}{
		{"page", func() int { return page("") }},
		{"page/later", func() int { pass(); return page("") }}, // with a fold of the counters, and a look for accidents
		{"page/day", func() int { return page("&span=day") }},
		{"page/tenant", func() int { return page("&site=t77.example") }},
		{"status", func() int { return ask("", "limit=10&span=day") }},
		{"lines", func() int { return ask("lines", "limit=10&refused=1") }},
		{"news", func() int { r.News(); return 0 }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			octets, before := 0, processorTime(b)
			for b.Loop() {
				octets = bb.ask()
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
			b.ReportMetric(float64(octets), "octets")
		})
	}
}

// processorTime returns the processor time of the process: on a busy machine, it says more
// than the time.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
