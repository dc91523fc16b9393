package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestCrawlersAreAddedAndOverridden(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: Intranet\nDisallow: /intranet/\n"
	h := provisioned(t, &Handler{Settings: config.Settings{
		Source: &config.Source{Kind: config.SourceInline, Text: file},
		Crawlers: []config.Crawler{
			{Name: "Intranet", UserAgents: []string{"Seeker9"}, Robots: []string{"Intranet"}, Purposes: []string{"search"}},
			{Name: "gptbot", Star: "no"},
			{Name: "curl", Class: "scraper"},
			{Name: "OurHookBot", Purposes: []string{"webhook"}},
		},
	}})
	for _, tt := range []struct {
		ua, target string
		want       int
	}{
		{"Seeker9/2.0", "/intranet/x", 403},
		{"Seeker9/2.0", "/private/x", 200},
		{gptbot, "/private/x", 200},
		{"curl/8.5.0", "/private/x", 403},
		{"OurHookBot/1.0", "/private/x", 200},
		{googlebot, "/private/x", 403},
		{chrome, "/private/x", 200},
	} {
		if w := serve(t, h, request(tt.ua, tt.target)); w.Code != tt.want {
			t.Errorf("%s for %.30s: %d, want %d", tt.target, tt.ua, w.Code, tt.want)
		}
	}
	if row := h.running.Load().Registry().Lookup("GPTBot"); row.Star != crawler.No || row.Operator == "" || len(row.Robots) == 0 {
		t.Errorf("overriding one fact lost the others: %+v", row)
	}
}

// reviewing leaves out reviews: after each comes a pause, which is as long as the machine
// is slow.
var reviewing = goleak.IgnoreAnyFunction("github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics.(*review).reviewAll")

// oneThing and otherThing are User-Agents of programs, with a word that the
// built-in registry does not have.
const (
	oneThing   = "OneThing/1.0"
	otherThing = "OtherThing/1.0"
)

// registryWriter writes a registry file and waits for log lines.
type registryWriter struct {
	*testing.T
	path string
	logs *zapobserver.ObservedLogs
}

func (w registryWriter) write(text string) {
	w.Helper()
	if err := os.WriteFile(w.path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// logged waits for n log lines that contain a text, and returns them.
func (w registryWriter) logged(n int, text string) []zapobserver.LoggedEntry {
	w.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if found := w.logs.FilterMessageSnippet(text).All(); len(found) >= n {
			return found
		}
		if time.Now().After(end) {
			w.Fatalf("%q was not logged %d times: %v", text, n, w.logs.All())
		}
	}
}

// watched provisions a handler with a registry file.
func watched(t *testing.T, h *Handler, text string) registryWriter {
	t.Helper()
	core, logs := zapobserver.New(zap.DebugLevel)
	w := registryWriter{t, filepath.Join(t.TempDir(), "crawlers.jsonl"), logs}
	w.write(text)
	h.Registry, h.log = w.path, zap.New(core)
	provisioned(t, h)
	return w
}

func TestRequestsAreServedWhileTheRegistryIsReplaced(t *testing.T) {
	started := goleak.IgnoreCurrent()
	t.Run("", serveWhileTheRegistryIsReplaced)
	if err := goleak.Find(started, reviewing); err != nil {
		t.Errorf("after Cleanup: %v", err)
	}
}

func serveWhileTheRegistryIsReplaced(t *testing.T) {
	h := &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\n"}}}
	w := watched(t, h, "")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for ua, want := range map[string]int{googlebot: 403, chrome: 200, "NewThingBot/1.0": 403} {
				if got := serve(t, h, request(ua, "/private/")).Code; got != want {
					t.Errorf("%s: %d, want %d", ua, got, want)
				}
			}
		}
	}()
	for i := range 5 {
		var rows strings.Builder
		for n := range 5 - i {
			fmt.Fprintf(&rows, "{\"name\": \"OneThing%d\"}\n", n)
		}
		w.write(rows.String())
		w.logged(i+1, "read again")
	}
	close(stop)
	<-done
}

func TestMatcherUsesTheRegistryOfTheHandler(t *testing.T) {
	h := provisioned(t, &Handler{Settings: config.Settings{
		Source:   &config.Source{Kind: config.SourceInline, Text: ""},
		Crawlers: []config.Crawler{{Name: "OneThing", Purposes: []string{"house-keeping"}, Operator: "Us"}},
	}})
	for _, m := range []*MatchRobots{{Crawler: []string{"onething"}}, {Purpose: []string{"house-keeping"}}, {Operator: []string{"us"}}, {Class: []string{"crawler"}}} {
		if err := m.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		r := request("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OneThing/1.0", "/")
		if before, err := m.MatchWithError(r); before || err != nil {
			t.Errorf("%+v matches without the handler: %v", m, err)
		}
		serve(t, h, r)
		if after, err := m.MatchWithError(r); !after || err != nil {
			t.Errorf("%+v does not match after the handler: %v", m, err)
		}
	}
}

func TestInvalidCrawlersInTheCaddyfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crawlers.jsonl")
	registryWriter{t, file, nil}.write("{\"name\": \"OneThing\"}\n")
	for _, tt := range []struct {
		block, want string
		line        int // in the block; 0: the error comes when the configuration is loaded, because adapting reads no files
	}{
		{"crawler", "one value", 1},
		{"crawler A B", "one value, not 2", 1},
		{"crawler \"\"", "name is empty", 1},
		{"crawler Chrome", "browsers send the word", 1},
		{"crawler X1 {\npurpose search\nuser_agents X1 Safari\nstar yes\n}", `browsers send the word "Safari"`, 3},
		{"crawler X1 {\nuser_agents\n}", "at least one value", 2},
		{"crawler X1 {\nuser_agents X1\nuser_agents X2\n}", "given twice", 3},
		{"crawler X1 {\npurpose search\nuser_agents GPTBot\n}", "already belongs to", 1},
		{"crawler X1 {\npurpose ai-trainig\n}", "did you mean ai-training", 2},
		{"crawler X1 {\nclass robot\n}", "want crawler or user-triggered", 2},
		{"crawler X1 {\nstar maybe\n}", "want yes or no", 2},
		{"crawler X1 {\nstars yes\n}", "did you mean star?", 2},
		{"crawler X1\ncrawler x1", "defined twice", 2},
		{"registry http://registry.example/x", "must begin with https://", 1},
		{"crawler X1 {\nrun_by nobody\n}", "want operator or anyone", 2},
		{"crawler X1 {\nclass webhook\npurpose search\n}", "for both", 1},
		{"registry " + file + ".none", "no such file", 0},
		{"registry " + file + "\ncrawler X1 {\nuser_agents OneThing\n}", "already belongs to", 0},
		{"crawler X1 {\nuser_agents OneThing\n}\nregistry " + file, "already belongs to", 0},
	} {
		d := caddyfile.NewTestDispenser("robots {\n" + tt.block + "\n}")
		h := new(Handler)
		err := h.UnmarshalCaddyfile(d)
		if tt.line == 0 {
			if err != nil {
				t.Errorf("%q can't be adapted: %v", tt.block, err)
			}
			ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
			defer cancel()
			if err := h.provision(ctx, startedApp(t, ctx)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q: %v, want %q", tt.block, err, tt.want)
			}
			if err := h.Cleanup(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasSuffix(err.Error(), fmt.Sprintf(":%d", tt.line+1)) {
			t.Errorf("%q: %v, want %q at line %d", tt.block, err, tt.want, tt.line+1)
		}
	}
}

func TestInvalidCrawlers(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.jsonl")
	if err := os.WriteFile(broken, []byte("\n{\"name\": \"A1Thing\"}\n{broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		crawlers []config.Crawler
		file     string
		want     string
	}{
		{[]config.Crawler{{Name: "Chrome"}}, "", "Chrome"},
		{[]config.Crawler{{Name: "X1Thing", UserAgents: []string{"Safari"}}}, "", "Safari"},
		{[]config.Crawler{{Name: "X1Thing", UserAgents: []string{"GPTBot"}}}, "", "GPTBot"},
		{[]config.Crawler{{Name: "X1Thing"}, {Name: "x1thing"}}, "", "twice"},
		{[]config.Crawler{{Name: "X1Thing", Star: "maybe"}}, "", "yes or no"},
		{[]config.Crawler{{Name: "X1Thing", Class: "robot"}}, "", "robot"},
		{nil, filepath.Join(dir, "none.jsonl"), "no such file"},
		{nil, broken, "line 3"},
	} {
		if _, err := registry.Read(tt.file, (&Handler{Settings: config.Settings{Crawlers: tt.crawlers}}).AddCrawlers); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v, %s: %v, want an error with %q", tt.crawlers, tt.file, err, tt.want)
		}
	}
}

// A handler serves requests at once, and uses the crawlers of the URL after they
// were read.
func TestHandlerUsesARegistryURL(t *testing.T) {
	started := goleak.IgnoreCurrent()
	t.Run("", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"OneThing"}`) }))
		defer server.Close()
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		defer cancel()
		dir := t.TempDir()
		app := &App{log: zap.NewNop(), storage: func(caddy.Context) certmagic.Storage { return &certmagic.FileStorage{Path: dir} }}
		if err := app.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		core, logs := zapobserver.New(zap.DebugLevel)
		app.log = zap.New(core)
		handlers := []*Handler{
			{Settings: config.Settings{Registry: server.URL, Exempt: []config.Exemption{{Name: "OneThing"}}}},
			{Settings: config.Settings{Registry: server.URL, Crawlers: []config.Crawler{{Name: "OneThing", Class: "library"}}}},
			{Settings: config.Settings{Registry: server.URL}},
		}
		for _, h := range handlers {
			h.log = zap.New(core)
			h.Source = &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\n"}
			if err := h.provision(ctx, app); err != nil {
				t.Fatal(err)
			}
		}
		if logs.FilterMessageSnippet("no crawler has this name").Len() != 1 {
			t.Errorf("no warning about an exempt name that is not known yet: %v", logs.All())
		}
		if got := serve(t, handlers[2], request(oneThing, "/private/")).Code; got != 200 {
			t.Errorf("before the start: %d", got)
		}
		if err := app.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); serve(t, handlers[2], request(oneThing, "/private/")).Code != 403; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the URL's crawler is not known: %v", logs.All())
			}
		}
		for end := time.Now().Add(20 * time.Second); handlers[0].running.Load().Registry().Lookup("OneThing") == nil; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the first handler does not have the URL's crawler")
			}
		}
		if got := serve(t, handlers[0], request(oneThing, "/private/")).Code; got != 200 {
			t.Errorf("exempt: %d", got)
		}
		if got := serve(t, handlers[1], request(oneThing, "/private/")).Code; got != 200 {
			t.Errorf("the operator's own block: %d", got)
		}
		if a, b := handlers[0].running.Load().Registry(), handlers[2].running.Load().Registry(); a != b {
			t.Error("two sites with the same crawlers do not share a registry")
		}
		if err := app.Stop(); err != nil {
			t.Error(err)
		}
		for _, h := range handlers {
			if err := h.Cleanup(); err != nil {
				t.Error(err)
			}
		}
		if err := app.Cleanup(); err != nil {
			t.Error(err)
		}
	})
	if err := goleak.Find(started, reviewing); err != nil {
		t.Errorf("after Stop: %v", err)
	}
}
