package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	snac       = "snac/2.60 (+https://snac.example)"
	activity   = "application/activity+json"
	linkedData = `text/html;q=0.1, application/ld+json; profile="https://www.w3.org/ns/activitystreams"`
	document   = `{"type":"Person"}`
	profile    = "<!DOCTYPE html><title>Alice</title>"
)

// newInstance is a server of the Fediverse.
func newInstance(t *testing.T) *httptest.Server {
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Set-Cookie", "session=1")
		send := func(media string, status int, body string) {
			header.Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
		switch r.URL.Path {
		case "/users/alice", "/hidden/alice", "/open/alice":
			send(activity+"; charset=utf-8", 200, document)
		case "/users/ld":
			send(`Application/LD+JSON; profile="https://www.w3.org/ns/activitystreams"`, 200, document)
		case "/users/tombstone":
			send(activity, 410, document)
		case "/users/gone":
			send("text/html", 410, profile)
		case "/users/moved":
			header.Set("Location", "/users/alice")
			send("text/html", 302, profile)
		case "/users/same":
			header.Set("ETag", `"1"`)
			w.WriteHeader(304)
		case "/users/json":
			send("application/json", 200, profile)
		case "/users/untyped":
			header["Content-Type"] = nil
			_, _ = io.WriteString(w, profile)
		case "/users/nothing":
			w.WriteHeader(204)
		case "/users/early":
			header.Set("Link", "</secret.css>; rel=preload")
			w.WriteHeader(103)
			send("text/html", 200, profile)
		case "/users/stream":
			for r.Context().Err() == nil {
				send("text/html", 200, profile)
				_ = http.NewResponseController(w).Flush()
			}
		case "/users/silent":
			send("text/event-stream", 200, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			send("text/html; charset=utf-8", 200, profile)
		}
	}))
	t.Cleanup(back.Close)
	return back
}

func instanceSite(back *httptest.Server, more string) string {
	return "{\n\tmetrics\n}\nhttp://:$PORT {\n\tlog\n\troute {\n\t\trobots {\n\t\t\tsource inline <<TXT\n\t\t\t\tUser-agent: *\n\t\t\t\tDisallow: /users/\n\t\t\t\tCrawl-delay: 500\n\n" +
		"\t\t\t\tUser-agent: NamedServer\n\t\t\t\tDisallow: /users/\n\t\t\t\tTXT\n\t\t\tpolicy {\n\t\t\t\thidden /hidden/*\n\t\t\t}\n\t\t\t" + more +
		"\n\t\t}\n\t\treverse_proxy " + back.URL + "\n\t}\n}\n"
}

// fetch sends a request as servers of the Fediverse do.
func (s *server) fetch(method, ua, path, accept string, fields ...string) response {
	s.t.Helper()
	h := http.Header{"Accept": {accept}, "Signature": {`keyId="https://snac.example/actor#key",signature="x"`}}
	for i := 0; i+1 < len(fields); i += 2 {
		if h[fields[i]] = nil; fields[i+1] != "" {
			h[fields[i]] = []string{fields[i+1]}
		}
	}
	return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", h)
}

// A signed request of another server gets what is an ActivityPub document, whatever the
// group for `*` says.
func TestFederation(t *testing.T) {
	t.Parallel()
	s := start(t, instanceSite(newInstance(t), ""))
	unsigned := s.get(snac, "/users/alice")
	if unsigned.status != 403 {
		t.Fatalf("unsigned: %d", unsigned.status)
	}
	for i, tt := range []struct {
		path   string
		status int
		body   string
	}{
		{"/users/alice", 200, document}, {"/users/ld", 200, document}, {"/users/tombstone", 410, document},
		{"/users/gone", 410, ""}, {"/users/moved", 302, ""}, {"/users/same", 304, ""},
		{"/users/page", 403, unsigned.body}, {"/users/json", 403, unsigned.body}, {"/users/untyped", 403, unsigned.body},
		{"/users/nothing", 403, unsigned.body}, {"/users/early", 403, unsigned.body}, {"/users/stream", 403, unsigned.body},
		{"/users/silent", 403, unsigned.body}, {"/hidden/alice", 404, "Not Found\n"},
	} {
		path := fmt.Sprintf("%s?%d", tt.path, i)
		got := s.fetch("GET", snac, path, activity)
		if got.status != tt.status || got.body != tt.body {
			t.Errorf("%s: %d, %q, want %d, %q", tt.path, got.status, got.body, tt.status, tt.body)
		}
		want := map[bool]string{true: "pass not_crawling", false: "deny disallowed"}[tt.status != 403]
		if tt.status == 404 {
			want = "deny hidden"
		}
		if d := s.decision(path); fmt.Sprint(d["action"], " ", d["reason"]) != want {
			t.Errorf("%s: the log has %v, want %s", tt.path, d, want)
		}
		if tt.status != 403 {
			continue
		}
		for name, values := range got.header {
			if unsigned.header[name] == nil && name != "Via" || name == "Content-Type" && values[0] != unsigned.header.Get(name) {
				t.Errorf("%s: the refusal has %s: %q", tt.path, name, values)
			}
		}
	}
	if pass, deny := s.metric(`caddy_robots_decisions_total{action="pass",crawler="self-declared",reason="not_crawling"}`),
		s.metric(`caddy_robots_decisions_total{action="deny",crawler="self-declared",reason="disallowed"}`); pass != 6 || deny != 8 {
		t.Errorf("%v requests passed and %v were denied", pass, deny)
	}
}

// What makes a request one of federation, and whom it helps.
func TestWhatFederationIs(t *testing.T) {
	t.Parallel()
	s := start(t, instanceSite(newInstance(t), ""))
	const webBot = `sig=("@authority");created=1;keyid="k";tag="web-bot-auth"`
	for _, tt := range []struct {
		name   string
		status int
		got    response
	}{
		{"HEAD", 200, s.fetch("HEAD", snac, "/users/alice", activity)},
		{"ld+json", 200, s.fetch("GET", snac, "/users/alice", linkedData)},
		{"RFC 9421", 200, s.fetch("GET", snac, "/users/alice", activity, "Signature-Input", `sig=("@method");created=1;keyid="k"`)},
		{"a page of HEAD", 403, s.fetch("HEAD", snac, "/users/page", activity)},
		{"Web Bot Auth", 403, s.fetch("GET", snac, "/users/alice", activity, "Signature-Input", webBot)},
		{"no signature", 403, s.fetch("GET", snac, "/users/alice", activity, "Signature", "")},
		{"an empty signature", 403, s.fetch("GET", snac, "/users/alice", activity, "Signature", " ")},
		{"another media type", 403, s.fetch("GET", snac, "/users/alice", "application/json, */*")},
		{"a media type that is not accepted", 403, s.fetch("GET", snac, "/users/alice", activity+";q=0, text/html")},
		{"a parameter", 403, s.fetch("GET", snac, "/users/alice", `text/html; x=", application/activity+json"`)},
		{"a crawler of the registry", 403, s.fetch("GET", gptbot, "/users/alice", activity)},
		{"a scraper", 403, s.fetch("GET", "Wget/1.21", "/users/alice", activity)},
		{"a user-triggered fetcher", 403, s.fetch("GET", "Mastodon/4.3.0 (+https://social.example/)", "/users/alice", activity)},
		{"one that a group names", 403, s.fetch("GET", "NamedServer/1.0 (+https://named.example)", "/users/alice", activity)},
		{"a person", 200, s.fetch("GET", chrome, "/users/page", activity)},
		{"a page that is allowed", 200, s.fetch("GET", snac, "/open/page", activity)},
		{"the next one", 429, s.fetch("GET", snac, "/open/page", activity)},
		{"a document then", 200, s.fetch("GET", snac, "/open/alice", activity)},
	} {
		if tt.got.status != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, tt.got.status, tt.status)
		}
	}
}

// An address has 60 such requests in a minute.
func TestFederationIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t, "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\n"+strings.TrimPrefix(instanceSite(newInstance(t), ""), "{\n\tmetrics\n}\n"))
	statuses := make(map[int]int)
	for range 70 {
		statuses[s.fetch("GET", snac, "/users/alice", activity, "X-Forwarded-For", "192.0.2.1").status]++
	}
	if statuses[200] != 60 || statuses[403] != 10 {
		t.Errorf("statuses: %v", statuses)
	}
	s.wants(200, s.fetch("GET", snac, "/users/alice", activity, "X-Forwarded-For", "192.0.2.2"), "another address")
}

// Modes and settings hold for federation too.
func TestFederationUnderSettings(t *testing.T) {
	t.Parallel()
	back := newInstance(t)
	t.Run("strict", func(t *testing.T) {
		t.Parallel()
		s := start(t, instanceSite(back, "strict on"))
		s.wants(403, s.fetch("GET", snac, "/users/alice", activity), "a document")
	})
	t.Run("monitor", func(t *testing.T) {
		t.Parallel()
		s := start(t, instanceSite(back, "mode monitor"))
		for path, want := range map[string]string{"/users/page": profile, "/users/gone": profile, "/users/alice": document} {
			if got := s.fetch("GET", snac, path, activity); got.body != want || got.header.Get("Set-Cookie") == "" {
				t.Errorf("%s: %d, %q, %v", path, got.status, got.body, got.header)
			}
		}
		if d := s.decision("/users/page"); d["action"] != "would_deny" {
			t.Errorf("%v", d)
		}
	})
	t.Run("limit", func(t *testing.T) {
		t.Parallel()
		s := start(t, instanceSite(back, "limit /users/* {\n\t\t\t\tall 10/1h\n\t\t\t\tat_once 1\n\t\t\t}"))
		for range 5 { // at_once is given back
			s.wants(403, s.fetch("GET", snac, "/users/page", activity), "a page, which uses no budget")
		}
		s.wants(200, s.fetch("GET", snac, "/users/alice", activity), "a document")
		s.wants(429, s.fetch("GET", snac, "/users/alice", activity), "one over the limit")
	})
	t.Run("handle_errors", func(t *testing.T) {
		t.Parallel()
		s := start(t, strings.TrimSuffix(instanceSite(back, ""), "}\n")+"\thandle_errors 403 {\n\t\trespond \"no: {http.robots.reason}\" 403\n\t}\n}\n")
		if got := s.fetch("GET", snac, "/users/page", activity); got.status != 403 || got.body != "no: disallowed" {
			t.Errorf("%d, %q", got.status, got.body)
		}
	})
}
