package challenge

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// host is a host of the site besides localhost. Browsers send it no Sec-Fetch fields,
// because it has no HTTPS and is not the own machine.
const host = "site.test"

// patience bounds all waiting. It is long, because the machine may be busy.
const patience = 2 * time.Minute

const sitefile = `{
	log {
		level WARN
	}
	servers {
		protocols h1 h2 h3
	}
}
(site) {
	log {
		output file $DIR/access.log
	}
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /blame/
			TXT
		challenge disallowed {
			over 10/10s
		}
	}
	reverse_proxy %s
}
http://localhost:$PORT, http://site.test:$PORT {
	import site
}
https://localhost:$TLSPORT {
	import site
}
`

// site is a running site, which strangers storm until the test ends.
type site struct {
	*server.Server
	t *testing.T

	mu     sync.Mutex
	served map[string]int // how often the back end served a target, by "METHOD target"
	leaked []string       // requests that came to the back end with a token or a pass
	bodies map[string]string
}

func startSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, served: make(map[string]int), bodies: make(map[string]string)}
	backend := httptest.NewServer(s)
	t.Cleanup(backend.Close)
	s.Server = server.Start(t, fmt.Sprintf(sitefile, strings.TrimPrefix(backend.URL, "http://")))
	s.storm()
	return s
}

// ServeHTTP is the back end.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	s.mu.Lock()
	key := r.Method + " " + r.RequestURI
	s.served[key]++
	s.bodies[key] = r.PostForm.Encode()
	if strings.Contains(r.RequestURI+strings.Join(r.Header["Cookie"], ";"), "caddy-robots-pass") {
		s.leaked = append(s.leaked, key)
	}
	s.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, ".css"):
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "body{margin:2em}")
	case strings.HasSuffix(r.URL.Path, ".svg"):
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>`)
	case strings.HasSuffix(r.URL.Path, ".js"):
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `addEventListener("install", () => skipWaiting()); addEventListener("activate", e => e.waitUntil(clients.claim()));
			addEventListener("fetch", e => e.respondWith(fetch(e.request)))`)
	case strings.HasSuffix(r.URL.Path, ".zip"):
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", `attachment; filename="a.zip"`)
		fmt.Fprint(w, "PK")
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		fmt.Fprint(w, `<!DOCTYPE html><html lang="en"><title>The page</title><link rel="icon" href="data:,">
			<link rel="stylesheet" href="/style.css"><h1 id="L10">A page</h1><img src="/picture.svg" alt="">`)
	}
}

// got returns how often the back end served a target.
func (s *site) got(method, target string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[method+" "+target]
}

// stormAgent is the User-Agent of the storm.
const stormAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"

// storm sends two documents a second, each from another address, to all origins of the
// site, until the test ends.
func (s *site) storm() {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			for _, origin := range s.origins() {
				_, _ = stranger(n, origin+fmt.Sprint("/blame/storm-", n), nil)
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	s.t.Cleanup(func() { close(stop); <-done })
}

func (s *site) origins() []string {
	return []string{s.TLSURL(""), fmt.Sprintf("http://%s:%d", host, s.Port), s.URL("")}
}

// waitForCheck waits until strangers are checked at all origins.
func (s *site) waitForCheck() {
	s.t.Helper()
	for n, origin := range s.origins() {
		s.eventually("the check is on at "+origin, func() bool {
			status, _ := stranger(1<<16+n, origin+"/blame/on", nil)
			return status == http.StatusTooManyRequests
		})
	}
}

// address returns an address of this machine; n is from 0.
func address(n int) net.IP { return net.IPv4(127, byte(1+n>>16), byte(n>>8), byte(n)) }

// stranger requests a URL once, with a connection of its own from address n.
func stranger(n int, target string, fields http.Header) (status int, header http.Header) {
	u, err := url.Parse(target)
	if err != nil {
		return 0, nil
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: address(n)}}
	dial := dialer.DialContext
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	transport.DialContext = dial
	r, _ := http.NewRequest(http.MethodGet, target, nil)
	r.Host, r.URL.Host = u.Host, net.JoinHostPort("127.0.0.1", u.Port())
	transport.TLSClientConfig.ServerName = u.Hostname()
	r.Header.Set("User-Agent", stormAgent)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	for name, values := range fields {
		r.Header[name] = values
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0, nil
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header
}

func (s *site) eventually(what string, ok func() bool) {
	s.t.Helper()
	if !waitFor(ok) {
		s.t.Fatalf("waited %v in vain until %s", patience, what)
	}
}

// waitFor waits until ok is true, and reports whether it is.
func waitFor(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// entry is a line of the access log.
type entry struct {
	Status  int
	Request struct {
		Proto, Method, Host, URI string
		Headers                  http.Header
	}
}

// String returns what a failed test shows.
func (e entry) String() string {
	uri, _, token := strings.Cut(e.Request.URI, "caddy-robots-pass=")
	if token {
		uri += "TOKEN"
	}
	dest, from := e.Request.Headers["Sec-Fetch-Dest"], e.Request.Headers["Sec-Fetch-Site"]
	return fmt.Sprint(e.Status, " ", e.Request.Method, " ", e.Request.Host, uri, " ", e.Request.Proto, " ", dest, from)
}

// isToken reports whether the URL has a token.
func (e entry) isToken() bool { return strings.Contains(e.Request.URI, "caddy-robots-pass=") }

// log returns the requests whose path begins so.
func (s *site) requests(path string) (found []entry) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, "access.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && strings.HasPrefix(e.Request.URI, path) {
			found = append(found, e)
		}
	}
	return found
}

// certificate returns a certificate of Caddy's authority, root or intermediate, in the DER
// form.
func (s *site) certificate(name string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Dir, "caddy/pki/authorities/local", name+".crt"))
	if err != nil {
		s.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	return block.Bytes
}
