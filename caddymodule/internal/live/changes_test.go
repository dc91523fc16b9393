package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// text is a source with one file.
type text struct{ body string }

func (*text) PerOrigin() bool { return false }

func (s *text) Fetch(context.Context, judge.Origin) (judge.Response, error) {
	return judge.Response{Status: 200, Body: []byte(s.body)}, nil
}

// configure adds a handler of sites with a source, and a mode that the test changes.
func (w *watcher) configure(t *testing.T, list *[]*Handler, settings *config.Settings, source origins.Source, hosts ...string) (mode *Mode) {
	t.Helper()
	engine, err := enforce.NewEngine(judge.Settings{}, source, throttle.NewMemory(1), nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	engine.Origins().Prefetch(t.Context(), &judge.Request{Origin: judge.NewOrigin("https", hosts[0], 443), Time: w.now})
	mode = new(Mode)
	*list = append(*list, &Handler{
		Site: &routes.Site{Hosts: hosts}, Settings: settings, SourceID: settings.Source.ID(),
		Running: running(engine, mode),
	})
	w.app.Handlers = func() []*Handler { return *list }
	w.Reporter = New(w.app)
	return mode
}

// running returns a Handler.Running with a mode that may change.
func running(engine *enforce.Engine, mode *Mode) func() (*enforce.Engine, *Modes) {
	return func() (*enforce.Engine, *Modes) {
		s := new(config.Settings)
		if mode.Monitor {
			s.Mode = config.ModeMonitor
		}
		return engine, NewModes(s, engine.Registry())
	}
}

// Monitor mode is a problem after 30 days, where all sites of the scope are in it. When
// it began is kept with the files.
func TestMonitorModeForLong(t *testing.T) {
	w, list := newWatcher(), []*Handler(nil)
	onDisk := func(path string) *config.Settings {
		return &config.Settings{Source: &config.Source{Kind: config.SourceFile, Path: path}}
	}
	a := w.configure(t, &list, onDisk("a.txt"), &text{"User-agent: *\nDisallow: /x\n"}, "a.test")
	b := w.configure(t, &list, onDisk("b.txt"), &text{"User-agent: *\nDisallow: /y\n"}, "b.test")
	want := func(what string, scope statusapi.Scope, n int) {
		t.Helper()
		w.accidents(statusapi.AllSites())
		got := w.monitorProblems(scope, nil)
		got = slices.DeleteFunc(got, func(p statusapi.Problem) bool { return !isTrouble(p) }) // a remark after 7 days
		if len(got) != n {
			t.Errorf("%s: %+v", what, got)
		}
	}
	all := statusapi.AllSites()
	a.Monitor, b.Monitor = true, true
	want("at first", all, 0)
	w.now = w.now.Add(20 * 24 * time.Hour)
	b.Monitor = false
	want("one is enforced", all, 0)
	b.Monitor = true
	want("it is monitored again", all, 0)
	w.now = w.now.Add(11 * 24 * time.Hour)
	want("31 days for one, and 11 for the other", all, 0)
	want("31 days", statusapi.Sites("a.test"), 1)
	want("11 days", statusapi.Sites("b.test"), 0)
	w.now = w.now.Add(20 * 24 * time.Hour)
	want("31 days for all", all, 1)

	saved, since := w.app.Counters.save(), time.Time{}
	restarted := newWatcher()
	if err := restarted.app.Counters.load(saved); err != nil {
		t.Fatal(err)
	}
	for _, f := range restarted.app.Counters.files {
		if since.Before(f.ModeSince) {
			since = f.ModeSince
		}
	}
	if got := w.now.Sub(since); got != 31*24*time.Hour {
		t.Errorf("after a restart: for %v", got)
	}
}

// Clients can make up hosts, so only a limited number of them has a mode of its own.
func TestModesOfHostsAreBounded(t *testing.T) {
	modes := NewModes(new(config.Settings), crawler.Builtin())
	var err error
	for n := range maxHostModes {
		if modes, err = modes.set([]string{fmt.Sprintf("m%d.test", n)}, nil, statusapi.Monitor); err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := modes.set([]string{"more.test"}, nil, statusapi.Monitor); err == nil || !strings.Contains(err.Error(), "which is the limit") {
		t.Errorf("one more: %v", err)
	}
	if _, err := modes.set([]string{"m1.test"}, nil, statusapi.Enforce); err != nil {
		t.Errorf("another mode for one of them: %v", err)
	}
}
