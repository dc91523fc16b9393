package registry

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
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
	r.URL = NewURL(NewDocument(address), &certmagic.FileStorage{Path: folder}, Log{zap.New(core), func(outcome string) { r.outcomes <- outcome }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	return r
}

// knows reports whether the registry of u has a crawler.
func (r *runningURL) knows(name string) bool {
	return r.registry().Lookup(name) != nil
}

// registry returns the crawlers that are known now.
func (r *runningURL) registry() *crawler.Registry {
	registry, _ := r.For(none).Read()
	return registry
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
	following := make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-following
		fmt.Fprintln(w, `{"name":"OneThing"}`+"\n"+`{"name":"Googlebot","user_agents":["EvilThing"],"robots":["Evil"]}`+"\n"+`{"name":"Firefox"}`)
	})
	folder := t.TempDir()
	u := run(t, server.URL, folder)
	changed := make(chan *crawler.Registry, 1)
	site := u.For(none)
	_, _ = site.Read()
	site.Follow(func(r *crawler.Registry) error { changed <- r; return nil })
	close(following)
	if got := <-u.outcomes; got != "loaded" || !u.knows("OneThing") || u.knows("EvilThing") || u.knows("Firefox") {
		t.Errorf("%s: OneThing %v, EvilThing %v, Firefox %v", got, u.knows("OneThing"), u.knows("EvilThing"), u.knows("Firefox"))
	}
	select {
	case r := <-changed:
		if r != u.registry() {
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

// The rows of a third party can't make people robots, nor make the server ask its
// own network. Each rejected row is logged, and the other rows are used.
func TestRowsThatAreRejected(t *testing.T) {
	bad := map[string]string{
		`{"name":"Acme7","shared":["CPU iPhone OS"]}`:                                                  `browsers or apps send the User-Agent token "CPU iPhone OS"`,
		`{"name":"Acme8","verify":{"ranges":["http://127.0.0.1:2019/config/"]}}`:                       "loopback or private address",
		`{"name":"Acme9","verify":{"ranges":["https://10.1.2.3/list"]}}`:                               "loopback or private address",
		`{"name":"Acme10","verify":{"ranges":["https://[::ffff:192.168.0.1]/list"]}}`:                  "loopback or private address",
		`{"name":"Acme11","verify":{"ranges":["https://localhost/list"]}}`:                             "loopback or private address",
		`{"name":"Acme12","verify":{"ranges":["https://metadata.internal/list"]}}`:                     "loopback or private address",
		`{"name":"Acme13","verify":{"ranges":["https://router/list"]}}`:                                "loopback or private address",
		`{"name":"Acme14","verify":{"ranges":["https://127.1/list"]}}`:                                 "loopback or private address",
		`{"name":"Acme15","verify":{"ranges":["https://2130706433/list"]}}`:                            "loopback or private address",
		`{"name":"Acme16","verify":{"ranges":["https://[64:ff9b::127.0.0.1]/list"]}}`:                  "loopback or private address",
		`{"name":"Acme17","verify":{"signature_agents":["https://[fd00::1]"]}}`:                        "loopback or private address",
		`{"name":"Acme18","verify":{"ranges":["http://operator.example/list"]}}`:                       "https://",
		`{"name":"Acme19","verify":{"hosts":["cache.local"]}}`:                                         "local network",
		`{"name":"Acme20","verify":{"hosts":["com"]}}`:                                                 "top-level domain",
		`{"name":"Acme21","verify":{"hosts":["a.example` + strings.Repeat(`","a.example`, 32) + `"]}}`: "33 hosts",
	}
	for i := range maxRejectionsLogged {
		bad[fmt.Sprintf(`{"name":"Inward%d","verify":{"ranges":["https://10.0.0.%[1]d/list"]}}`, i)] = "loopback or private address"
	}
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for row := range bad {
			fmt.Fprintln(w, row)
		}
		fmt.Fprintln(w, `{"name":"OneThing","verify":{"hosts":["crawl.example"],"ranges":["https://operator.example/list","https://192.0.2.1/"],"signature_agents":["https://operator.example"]}}`)
	})
	u := run(t, server.URL, t.TempDir())
	if got := <-u.outcomes; got != "loaded" || !u.knows("OneThing") {
		t.Fatalf("%s, %v", got, u.logs.All())
	}
	additions := additionsOf(u.document)
	registry, rejected := additions.extend(crawler.Builtin())
	if len(rejected) != len(bad) || registry.Len() != crawler.Builtin().Len()+1 {
		t.Errorf("%d rows rejected, want %d; %d crawlers added", len(rejected), len(bad), registry.Len()-crawler.Builtin().Len())
	}
	for row, want := range bad {
		if !slices.ContainsFunc(rejected, func(r crawler.Rejection) bool {
			return strings.Contains(row, fmt.Sprintf("%q", r.Name)) && strings.Contains(r.Reason, want)
		}) {
			t.Errorf("%s: want %q in %v", row, want, rejected)
		}
	}
	if n := u.logs.FilterMessage("a row of the registry was rejected").Len(); n != maxRejectionsLogged {
		t.Errorf("%d rows logged", n)
	}
}

func TestUnusableRegistries(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a web page":        func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html>\n<title>x</title>\n") },
		"an empty document": func(http.ResponseWriter, *http.Request) {},
		"an error":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
	} {
		u := run(t, serve(t, answer).URL, t.TempDir())
		if got := <-u.outcomes; got != "failed" || u.logs.FilterLevelExact(zap.ErrorLevel).FilterMessageSnippet("can't be used").Len() != 1 {
			t.Errorf("%s: %s, %v", name, got, u.logs.All())
		}
		if u.registry() != crawler.Builtin() {
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
