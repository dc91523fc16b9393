package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runningURL is a URL that runs until the test ends.
type runningURL struct {
	*URL
	logs     *zapobserver.ObservedLogs
	outcomes chan string
	stop     func()
}

// run runs a URL with a new Document, as after a restart, and with the storage in
// a folder.
func run(t *testing.T, address, folder string) *runningURL {
	core, logs := zapobserver.New(zap.DebugLevel)
	r := &runningURL{logs: logs, outcomes: make(chan string, 10)}
	r.URL = NewURL(NewDocument(address), &certmagic.FileStorage{Path: folder}, zap.New(core), func(outcome string) { r.outcomes <- outcome })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	return r
}

// knows reports whether the registry of u has a crawler.
func (r *runningURL) knows(name string) bool {
	registry, _ := r.Extend(crawler.Builtin())
	return registry.Lookup(name) != nil
}

// eventually waits until the condition holds.
func (r *runningURL) eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: %v", what, r.logs.All())
		}
	}
}

func serve(t *testing.T, answer http.HandlerFunc) *httptest.Server {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server
}

func TestURLIsReadAndStored(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"name":"OneThing"}`+"\n"+`{"name":"Googlebot","user_agents":["EvilThing"],"robots":["Evil"]}`+"\n"+`{"name":"Firefox"}`)
	})
	folder := t.TempDir()
	u := run(t, server.URL, folder)
	changed := make(chan *crawler.Registry, 1)
	u.Follow(crawler.Builtin(), nil, func(r *crawler.Registry) { changed <- r })
	if got := <-u.outcomes; got != "loaded" || !u.knows("OneThing") || u.knows("EvilThing") || u.knows("Firefox") {
		t.Errorf("%s: OneThing %v, EvilThing %v, Firefox %v", got, u.knows("OneThing"), u.knows("EvilThing"), u.knows("Firefox"))
	}
	select {
	case r := <-changed:
		if shared, _ := u.Extend(crawler.Builtin()); r != shared {
			t.Error("two sites with the same crawlers do not share a registry")
		}
	default:
		t.Error("Follow's function was not called")
	}
	if n := u.logs.FilterMessageSnippet("was rejected").Len(); n != 2 {
		t.Errorf("%d rows were refused, want those of Googlebot and Firefox: %v", n, u.logs.All())
	}
	u.fetched(false, nil)
	if got := <-u.outcomes; got != "unchanged" || len(changed) != 0 {
		t.Errorf("a read without a change: %s, %d calls", got, len(changed))
	}
	u.stop() // waits until the copy is stored
	server.Close()
	u = run(t, server.URL, folder)
	u.eventually(t, "after a restart without network", func() bool { return u.knows("OneThing") })
}

func TestUnusableRegistries(t *testing.T) {
	var server *httptest.Server
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		log    string
	}{
		"a web page":         {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html>\n<title>x</title>\n") }, "can't be used"},
		"an empty document":  {func(http.ResponseWriter, *http.Request) {}, "can't be used"},
		"an error":           {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "can't be read"},
		"304 without a copy": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "can't be read"},
		"too many octets":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("#", 5<<20)) }, "can't be read"},
		"a redirect to http": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://registry.example/", http.StatusFound)
		}, "can't be read"},
		"a redirect to nowhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, server.URL+"/again", http.StatusFound)
		}, "can't be read"},
	} {
		server = serve(t, tt.answer)
		u := run(t, server.URL, t.TempDir())
		if got := <-u.outcomes; got != "failed" || u.logs.FilterLevelExact(zap.ErrorLevel).FilterMessageSnippet(tt.log).Len() != 1 {
			t.Errorf("%s: %s, %v, want %q", name, got, u.logs.All(), tt.log)
		}
		if registry, additions := u.Extend(crawler.Builtin()); registry != crawler.Builtin() || additions != nil {
			t.Errorf("%s: crawlers were added", name)
		}
		u.stop()
	}
}

func TestBrokenStorage(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"OneThing"}`) })
	u := run(t, server.URL, file) // a file, where a folder is needed
	if got := <-u.outcomes; got != "loaded" || !u.knows("OneThing") || u.logs.FilterMessageSnippet("can't be loaded from storage or stored").Len() == 0 {
		t.Errorf("%s, known %v, %v", got, u.knows("OneThing"), u.logs.All())
	}
}

func TestRead(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"name":"OneThing"}`) })
	if registry, err := Read(server.URL, none); err != nil || registry.Lookup("OneThing") == nil {
		t.Errorf("%v, %v", registry, err)
	}
	if _, err := Read("http://registry.example/", none); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("http: %v", err)
	}
	if registry, err := Read("", none); err != nil || registry != crawler.Builtin() {
		t.Errorf("no location: %v", err)
	}
}

// none adds no crawlers.
func none(r *crawler.Registry) (*crawler.Registry, error) { return r, nil }
