package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// crawlerNo returns the User-Agent of one of many crawlers.
func crawlerNo(n int) string {
	return fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather%d.example/bot)", n, n)
}

// limitSite is a site with a limit for all crawlers on two paths.
const limitSite = `http://:$PORT {
	bind $HOST
	robots {
		source inline "User-agent: *
Disallow: /private/"
		limit /archive/* /*?sort= {
			all 30/1m
		}
		$FLEET
	}
	respond "page"
}`

// Forty crawlers on the archive get 30 requests a minute and the burst, together and
// on all servers of a fleet. People, search engines and other paths are untouched.
func TestLimitOfManyCrawlers(t *testing.T) {
	t.Parallel()
	fleets := map[int]string{1: ""}
	if redis := newRedis(t); redis != nil {
		fleets[2] = fmt.Sprintf("fleet redis://127.0.0.1:%d {\n instances 2\n }", redis.port)
	} else {
		t.Log("redis-server is not installed: a fleet is not tested")
	}
	for n, fleet := range fleets {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var servers []*server
			port := freePort(t)
			for i := range n {
				s := startAt(t, fmt.Sprintf("127.0.0.%d", i+2), port, strings.Replace(limitSite, "$FLEET", fleet, 1))
				if fleet != "" {
					s.eventually("the server shares budgets", func() bool { s.get(chrome, "/"); return s.metric("caddy_robots_fleet_up") == 1 })
				}
				servers = append(servers, s)
			}
			began := time.Now()
			var accepted, refused int
			for i := range 40 * 5 {
				s := servers[i%n]
				got := s.get(crawlerNo(i%40), []string{"/archive/x", "/list?sort=name"}[i%2])
				switch got.status {
				case 200:
					accepted++
				case 429:
					refused++
					if after, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || after < 1 || after > 2*n {
						t.Fatalf("Retry-After %q, want at most the time until the next request", got.header.Get("Retry-After"))
					}
				default:
					t.Fatalf("status %d", got.status)
				}
				for _, other := range []struct {
					ua, path string
					status   int
				}{{crawlerNo(i % 40), "/", 200}, {crawlerNo(i % 40), "/private/", 403}, {chrome, "/archive/x", 200}, {googlebot, "/archive/x", 200}} {
					s.wants(other.status, s.get(other.ua, other.path), other.ua+" "+other.path)
				}
			}
			// Three at once, and one every two seconds of the time that the test took.
			if most := 3 + 1 + int(time.Since(began)/(2*time.Second)); accepted < 3 || accepted > most {
				t.Errorf("%d requests accepted in %v, want 3 to %d", accepted, time.Since(began), most)
			}
			if refused == 0 {
				t.Error("no request was refused")
			}
		})
	}
}

// A refusal by a limit is shown with its line wherever decisions are shown.
func TestWhereALimitIsShown(t *testing.T) {
	t.Parallel()
	s := start(t, `{
	metrics
}
(expensive) {
	limit /archive/* /*?sort= {
		all 1/1h
		at_once 10
		include Googlebot
	}
}
http://localhost:$PORT, http://*.sub.test:$PORT {
	log
	header >X-Reason "{http.robots.reason} {http.robots.layer} {http.robots.line} {http.robots.rule}"
	robots {
		source inline "User-agent: *
Crawl-delay: 0.001"
		import expensive
		answer throttled 503 "{http.robots.rule}"
	}
	respond "page"
}`)
	line, rule := s.lineOf("limit /archive"), "limit /archive/* /*?sort=: all 1/1h"
	s.wants(200, s.get(crawlerNo(1), "/archive/x"), "the first request")
	refused := s.at("any.sub.test:"+fmt.Sprint(s.port), crawlerNo(2), "/list?sort=name")
	if want := fmt.Sprintf("limit limit %d %s", line, rule); refused.status != 503 || refused.body != rule+"\n" || refused.header.Get("X-Reason") != want || refused.header.Get("Retry-After") == "" {
		t.Errorf("status %d, %q, %q, want %q; Retry-After %q", refused.status, refused.body, refused.header.Get("X-Reason"), want, refused.header.Get("Retry-After"))
	}
	if n := s.metric(`caddy_robots_decisions_total{action="throttle",crawler="self-declared",reason="limit"}`); n != 1 {
		t.Errorf("the metric is %v", n)
	}
	s.eventually("the access log has the limit", func() bool {
		for _, l := range s.lines("handled request") {
			if r, ok := l["robots"].(map[string]any); ok && r["reason"] == "limit" && r["layer"] == "limit" && r["rule"] == rule && r["line"] == float64(line) {
				return true
			}
		}
		return false
	})
	if l := s.lines("crawler refused by robots.txt"); len(l) != 1 || l[0]["file"] != "Caddyfile" || l[0]["rule"] != rule {
		t.Errorf("log lines %v", l)
	}
	lines := adminValue[statusapi.Lines](s, "lines?refused=1").Lines
	if len(lines) != 1 || lines[0].Rule != rule || lines[0].Number != line || lines[0].File != "Caddyfile" || lines[0].Layer != "limit" || lines[0].Removed || lines[0].Throttled != 1 {
		t.Errorf("lines: %+v", lines)
	}
	recent := adminValue[statusapi.Recent](s, "recent").Refusals
	if len(recent) != 1 || recent[0].Rule != rule || recent[0].Line != line || recent[0].File != "Caddyfile" || recent[0].Reason != "limit" {
		t.Errorf("recent: %+v", recent)
	}
	check := s.check("localhost", "/archive/x", "GPTBot", "")
	if len(check.Limits) != 2 || check.Limits[0] != (verdict.Limit{Rule: rule, Line: line, File: "Caddyfile"}) || !strings.Contains(check.Message, rule) {
		t.Errorf("check: %+v, %s", check.Limits, check.Message)
	}
	if check := s.check("localhost", "/x", "GPTBot", ""); len(check.Limits) != 0 {
		t.Errorf("check of another path: %+v", check.Limits)
	}
	pools := 0
	for _, b := range adminValue[statusapi.Budgets](s, "budgets?crawler=GPTBot").Budgets {
		if b.Layer != "limit" {
			continue
		}
		pools++
		if all := b.Limits == rule; b.Owner != "crawlers" || b.Line != line || b.File != "Caddyfile" || b.Used != all || b.Free == all || b.Origin != "" || all == (b.AtOnce == 10) {
			t.Errorf("%+v", b)
		}
	}
	if pools != 2 {
		t.Errorf("%d budgets of limits", pools)
	}
	status, err := s.status()
	if want := fmt.Sprintf("Caddyfile:%d", line); err != nil || !strings.Contains(status, want) || !strings.Contains(status, rule) {
		t.Errorf("caddy robots status has no %q or %q:\n%s", want, rule, status)
	}
	s.reasonsAddUp("limit")
	checked, err := exec.Command(binary, "robots", "check", "--config", filepath.Join(s.dir, "Caddyfile"), "--agent", "GPTBot", fmt.Sprintf("http://localhost:%d/archive/x", s.port)).CombinedOutput()
	if want := fmt.Sprintf("%s, line %d of Caddyfile", rule, line); err != nil || !strings.Contains(string(checked), want) || !strings.Contains(string(checked), "at_once 10") {
		t.Errorf("caddy robots check has no %q: %v\n%s", want, err, checked)
	}
	s.adminRequest(http.MethodPost, "budgets/reset?crawler=GPTBot", 200, nil)
	s.wants(200, s.get(gptbot, "/archive/x"), "after the reset")
	s.wants(503, s.get(gptbot, "/archive/x"), "after one more request")
	s.wants(200, s.get(googlebot, "/archive/x"), "a search engine that is included has another budget")
}

// Each limit is shown with its own file.
func TestLimitsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	more := filepath.Join(t.TempDir(), "more.conf")
	writeFile(t, more, "limit /more/ {\n\tall 1/1h\n}\n")
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tlimit /a/ {\n\t\t\tall 1/1h\n\t\t}\n\t\timport "+more+"\n\t}\n\trespond page\n}\n")
	for _, path := range []string{"/a/", "/more/"} {
		s.wants(200, s.get(gptbot, path), path)
		s.wants(429, s.get(gptbot, path), path)
	}
	want := map[string]string{"limit /a/: all 1/1h": "Caddyfile", "limit /more/: all 1/1h": "more.conf"}
	for _, line := range adminValue[statusapi.Lines](s, "lines?refused=1").Lines {
		if line.File == "" || line.File != want[line.Rule] {
			t.Errorf("%q is in %q", line.Rule, line.File)
		}
		delete(want, line.Rule)
	}
	if len(want) > 0 {
		t.Errorf("not shown: %v", want)
	}
}

// In monitor mode, requests over a limit are counted and pass. They use no budget of
// enforced requests.
func TestLimitInMonitorMode(t *testing.T) {
	t.Parallel()
	config := func(mode string) string {
		return "{\n\tmetrics\n\trobots {\n\t\tlimit {\n\t\t\tall 1/1h\n\t\t}\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tmode " + mode + "\n\t}\n\trespond page\n}\n"
	}
	s := start(t, config("monitor"))
	for range 3 {
		s.wants(200, s.get(gptbot, "/"), "monitor mode")
	}
	if n := s.metric(`caddy_robots_decisions_total{action="would_throttle",crawler="GPTBot",reason="limit"}`); n != 2 {
		t.Errorf("%v would have been refused, want 2", n)
	}
	if err := s.reload(config("enforce")); err != nil {
		t.Fatal(err)
	}
	s.eventually("the limit is enforced", func() bool { return s.get(gptbot, "/").status == 429 })
	if n := s.metric(`caddy_robots_decisions_total{action="pass",crawler="GPTBot",reason="no_rules"}`); n != 2 {
		t.Errorf("%v requests passed, want one in each mode", n)
	}
}

// Requests in flight are counted until they end, whatever ends them: the answer, a
// client that hangs up, a broken back end, or the end of a WebSocket. A reload keeps
// the count.
func TestRequestsAtOnce(t *testing.T) {
	t.Parallel()
	const config = `http://:$PORT {
	robots {
		limit /slow/* {
			at_once 4
		}
	}
	reverse_proxy $BACKEND
}
`
	g := newGate(t)
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/slow/panic":
			panic(http.ErrAbortHandler)
		case r.Header.Get("Upgrade") != "":
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_ = rw.Flush()
			_, _ = io.Copy(io.Discard, rw)
		case r.URL.Path == "/slow/gate":
			g.before(page(""))(w, r)
		default:
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	text := strings.Replace(config, "$BACKEND", b.address(), 1)
	s := start(t, text)
	inFlight := func() int {
		for _, budget := range adminValue[statusapi.Budgets](s, "budgets?crawler=GPTBot").Budgets {
			if budget.AtOnce > 0 {
				return budget.InFlight
			}
		}
		return -1
	}
	s.wants(404, s.get(gptbot, "/robots.txt"), "robots.txt")
	ask := func(ctx context.Context, path string, upgrade bool) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", gptbot)
		if upgrade {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		}
		return client.Do(r)
	}
	var open []io.Closer
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	for i := range 4 {
		resp, err := ask(ctx, "/slow/stream", i == 0)
		if err != nil || resp.StatusCode != 200 && resp.StatusCode != 101 {
			t.Fatalf("request %d: %v, %v", i, resp, err)
		}
		open = append(open, resp.Body)
	}
	s.eventually("four requests are in flight", func() bool { return inFlight() == 4 })
	refused := s.get(gptbot, "/slow/x")
	if refused.status != 429 || refused.header.Get("Retry-After") != "5" {
		t.Errorf("status %d, Retry-After %q", refused.status, refused.header.Get("Retry-After"))
	}
	s.wants(404, s.get(chrome, "/robots.txt"), "a person")
	if err := s.reload(strings.Replace(text, "at_once 4", "at_once 5", 1)); err != nil {
		t.Fatal(err)
	}
	s.eventually("a fifth request is let through", func() bool { return s.get(gptbot, "/slow/panic").status == 502 })
	if n := inFlight(); n > 4 {
		t.Errorf("%d requests in flight", n)
	}
	hangUp()
	for _, body := range open {
		body.Close()
	}
	s.eventually("no request is in flight", func() bool { return inFlight() == 0 })
	for i := range 300 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(3000))*time.Microsecond)
		if resp, err := ask(ctx, []string{"/slow/x", "/slow/panic", "/slow/gate"}[i%3], i%7 == 0); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	s.eventually("no request is in flight after many that were killed", func() bool { return inFlight() == 0 })
}
