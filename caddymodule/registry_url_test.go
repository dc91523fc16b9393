package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// registryServer is an HTTP server with a registry.
type registryServer struct {
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	requests []*http.Request
}

func newRegistryServer(t *testing.T) *registryServer {
	s := new(registryServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// serves makes the server answer with a text and an entity tag.
func (s *registryServer) serves(text string) {
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf("\"%d\"", len(text))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, text)
	})
}

func (s *registryServer) answers(f http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *registryServer) last() *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[len(s.requests)-1]
}

func loggedRegistry(url, storage string) (*registryURL, *zapobserver.ObservedLogs) {
	core, logs := zapobserver.New(zap.DebugLevel)
	u := newRegistryURL(url, new(registryState), &certmagic.FileStorage{Path: storage}, zap.New(core))
	return u, logs
}

// knows reports whether the registry of u has a crawler.
func knows(u *registryURL, name string) bool {
	registry, _, _ := u.state.extend(crawler.Builtin())
	return registry.Lookup(name) != nil
}

func TestRegistryURLIsReadConditionallyAndStored(t *testing.T) {
	server, dir := newRegistryServer(t), t.TempDir()
	server.serves(`{"name":"OneThing"}` + "\n" + `{"name":"Googlebot","user_agents":["EvilThing"],"robots":["Evil"]}` + "\n" + `{"name":"Firefox"}` + "\n")
	ctx := context.Background()
	u, logs := loggedRegistry(server.URL, dir)
	if wait := u.read(ctx); wait != registryRefresh || !knows(u, "OneThing") || knows(u, "EvilThing") || knows(u, "Firefox") {
		t.Errorf("read again in %v; OneThing %v, EvilThing %v", wait, knows(u, "OneThing"), knows(u, "EvilThing"))
	}
	if n := logs.FilterMessageSnippet("was refused").Len(); n != 2 {
		t.Errorf("%d rows were refused, want those of Googlebot and Firefox: %v", n, logs.All())
	}
	version := u.state.version
	if u.read(ctx); server.last().Header.Get("If-None-Match") == "" || u.state.version != version || !knows(u, "OneThing") {
		t.Errorf("the second read was not conditional, or changed something: %v", server.last().Header)
	}

	// After a restart without network.
	server.Close()
	u, _ = loggedRegistry(server.URL, dir)
	u.restore(ctx)
	if !knows(u, "OneThing") {
		t.Error("the stored copy is not in force")
	}
	if wait := u.read(ctx); wait != registryRetry || !knows(u, "OneThing") {
		t.Errorf("after a read that failed: again in %v, known %v", wait, knows(u, "OneThing"))
	}
	if first, second := u.read(ctx), u.read(ctx); first != 2*registryRetry || second != 4*registryRetry {
		t.Errorf("again in %v, %v", first, second)
	}
	for range 20 {
		if wait := u.read(ctx); wait > registryRefresh {
			t.Fatalf("again in %v", wait)
		}
	}
}

func TestFailedReadOfARegistryURLChangesNothing(t *testing.T) {
	ctx := context.Background()
	server := newRegistryServer(t)
	server.serves(`{"name":"OneThing"}`)
	u, logs := loggedRegistry(server.URL, t.TempDir())
	u.read(ctx)
	for name, answer := range map[string]http.HandlerFunc{
		"a web page":        func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html>\n<title>x</title>\n") },
		"an empty document": func(http.ResponseWriter, *http.Request) {},
		"an error":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"too many octets":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("#", maxRegistryURL+1)) },
		"a redirect to http": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://registry.example/", http.StatusFound)
		},
		"a redirect to nowhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, server.URL+"/again", http.StatusFound)
		},
	} {
		server.answers(answer)
		before := logs.FilterLevelExact(zap.ErrorLevel).Len()
		u.read(ctx)
		if !knows(u, "OneThing") || logs.FilterLevelExact(zap.ErrorLevel).Len() != before+1 {
			t.Errorf("%s: OneThing known %v, %v", name, knows(u, "OneThing"), logs.All()[len(logs.All())-1])
		}
	}
	other, _ := loggedRegistry(server.URL, t.TempDir())
	server.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	if other.read(ctx); other.state.last().Body != nil {
		t.Error("a 304 answer without a cached copy made a copy")
	}
}

func TestRegistryURLWithBrokenStorage(t *testing.T) {
	ctx := context.Background()
	server := newRegistryServer(t)
	server.serves(`{"name":"OneThing"}`)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	u, logs := loggedRegistry(server.URL, file) // a file, where a folder is needed
	u.restore(ctx)
	if u.read(ctx); !knows(u, "OneThing") || logs.FilterMessageSnippet("can't be stored").Len() != 1 {
		t.Errorf("known %v, %v", knows(u, "OneThing"), logs.All())
	}
	dir := t.TempDir()
	u, logs = loggedRegistry(server.URL, dir)
	if err := u.storage.Store(ctx, u.storageKey(), []byte("{broken")); err != nil {
		t.Fatal(err)
	}
	if u.restore(ctx); knows(u, "OneThing") || logs.FilterMessageSnippet("stored copy of the registry can't be used").Len() != 1 {
		t.Errorf("a broken copy: %v", logs.All())
	}
}

func TestCheckRegistryURL(t *testing.T) {
	for rawURL, ok := range map[string]bool{
		"https://registry.example/crawlers.jsonl": true,
		"http://localhost:8080/x":                 true,
		"http://127.0.0.1/x":                      true,
		"http://[::1]:80/x":                       true,
		"http://registry.example/x":               false,
		"ftp://registry.example/x":                false,
		"https://":                                false,
		"https://registry.example:x/":             false,
	} {
		if err := checkRegistryURL(rawURL); (err == nil) != ok {
			t.Errorf("%s: %v", rawURL, err)
		}
	}
}

// A handler serves requests at once, and uses the crawlers of the URL after they
// were read.
func TestHandlerUsesARegistryURL(t *testing.T) {
	started := goleak.IgnoreCurrent()
	t.Run("", func(t *testing.T) {
		server := newRegistryServer(t)
		server.serves(`{"name":"OneThing"}`)
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		defer cancel()
		dir := t.TempDir()
		app := &App{storage: func(caddy.Context) certmagic.Storage { return &certmagic.FileStorage{Path: dir} }}
		if err := app.Provision(ctx); err != nil {
			t.Fatal(err)
		}
		core, logs := zapobserver.New(zap.DebugLevel)
		app.log = zap.New(core)
		handlers := []*Handler{
			{Settings: Settings{Registry: server.URL, Exempt: []Exemption{{Name: "OneThing"}}}},
			{Settings: Settings{Registry: server.URL, Crawlers: []Crawler{{Name: "OneThing", Class: "library"}}}},
			{Settings: Settings{Registry: server.URL}},
		}
		for _, h := range handlers {
			h.log = zap.New(core)
			h.Source = &Source{Kind: sourceInline, Text: "User-agent: *\nDisallow: /private/\n"}
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
		server.CloseClientConnections()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	if err := goleak.Find(started); err != nil {
		t.Errorf("after Stop: %v", err)
	}
}

func TestCommandsAcceptARegistryURL(t *testing.T) {
	server := newRegistryServer(t)
	server.serves(`{"name":"OneThing"}`)
	registry, err := commands{}.ReadRegistry(server.URL)
	if err != nil || registry.Lookup("OneThing") == nil {
		t.Errorf("%v, %v", registry, err)
	}
	if _, err := (commands{}).ReadRegistry("http://registry.example/"); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("http: %v", err)
	}
}
