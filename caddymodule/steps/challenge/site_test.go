package challenge

import (
	"cmp"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/media"
	"github.com/caddy-robots/caddy-robots/robots"
)

const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"

func handlerKey() string { return "a handler" }

// pathsOf compiles patterns.
func pathsOf(t testing.TB, patterns ...string) *robots.Group {
	t.Helper()
	paths, err := judge.PathGroup(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// site is a site with a check, and a clock.
type site struct {
	t      testing.TB
	now    time.Time
	check  *Check
	memory *Memory
	rules  *judge.Rules
	host   string
	x      *step.Exchange             // the latest one
	sent   *httptest.ResponseRecorder // the answer to the latest one that went on
	scheme string
	// invented says that the host is one of *.example.com.
	invented bool
}

func (s *site) pattern() string {
	if s.invented {
		return "*.example.com"
	}
	return ""
}

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func newSite(t testing.TB, change func(*Config)) *site {
	t.Helper()
	m := NewMemory()
	m.keysFailed.Store(new(error))
	s := &site{t: t, now: noon, memory: m, host: "example.com", scheme: "https"}
	c := Config{name: "challenge /blame/*", over: 60, window: time.Minute, passFor: 4 * time.Hour, page: builtin, paths: pathsOf(t, "/blame/*")}
	if change != nil {
		change(&c)
	}
	s.check = New(m, c, handlerKey)
	var err error
	s.rules, err = (judge.Settings{}).Rules(judge.Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /closed/\n")})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request. The fields are pairs of names and values; User-Agent replaces that
// of a browser, and an empty value removes a field. What goes on gets a page, or the file
// that its path has.
func (s *site) ask(method, target, addr string, fields ...string) (*Arrival, Verdict, *http.Request) {
	s.t.Helper()
	return s.askAnswered(method, target, addr, backend{}, fields...)
}

// backend is what a back end answers: without a status 200, without a type that of the
// path.
type backend struct {
	status int
	media  string
	field  string // a further one, with its value
	err    error
}

// request makes a request the latest one, and lets the rules decide on it.
func (s *site) request(method, target, addr string, fields ...string) *step.Exchange {
	r := httptest.NewRequest(method, "https://"+s.host+target, nil)
	r.Header.Set("User-Agent", chrome)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	for i := 0; i < len(fields); i += 2 {
		if r.Header.Set(fields[i], fields[i+1]); fields[i+1] == "" {
			r.Header.Del(fields[i])
		}
	}
	s.x = &step.Exchange{HTTP: r, Request: judge.Request{
		Method: method, Target: target, UserAgents: r.Header["User-Agent"], Client: addr, Time: s.now,
		Origin: judge.NewOrigin(s.scheme, s.host, 443), Authorized: r.Header["Authorization"] != nil, Invented: s.invented, Site: s.pattern(),
	}}
	s.check.Strip(s.x, false)
	s.rules.Check(&s.x.Request, &s.x.Decision)
	return s.x
}

// watch sends a request to a site where storms are watched.
func (s *site) watch(target, addr string, fields ...string) {
	x := s.request("GET", target, addr, fields...)
	s.check.watch(x)
	s.answer(x, backend{})
}

// askAnswered sends a request to which the back end has a certain answer.
func (s *site) askAnswered(method, target, addr string, as backend, fields ...string) (*Arrival, Verdict, *http.Request) {
	s.t.Helper()
	x := s.request(method, target, addr, fields...)
	s.check.decide(x)
	a := s.check.slot.Of(x)
	if a.verdict == Go {
		s.answer(x, as)
	}
	s.check.End(x)
	return a, a.verdict, x.HTTP
}

// answer answers a request that goes on.
func (s *site) answer(x *step.Exchange, as backend) {
	s.sent = httptest.NewRecorder()
	w := s.check.Respond(x, s.sent)
	if as.err == nil {
		if as.media == "" {
			as.media = "text/html; charset=utf-8"
			ext := path.Ext(x.HTTP.URL.Path)
			if media.OfTarget(x.HTTP.URL.Path) == media.Embedded || ext == ".ico" {
				as.media = mime.TypeByExtension(ext)
			}
		}
		if as.media != "none" {
			w.Header().Set("Content-Type", as.media)
		}
		if name, value, ok := strings.Cut(as.field, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(cmp.Or(as.status, http.StatusOK))
	}
	x.Returned, x.Err = true, as.err
	s.check.End(x)
}

// address returns the address of stranger i.
func address(i int) string {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}).String()
}

// storm lets strangers come for a time, perSecond at a time, one request from each. It
// returns how many got through in the last half of the time.
func (s *site) storm(d time.Duration, perSecond int, fields ...string) (through, all int) {
	s.t.Helper()
	end, half := s.now.Add(d), s.now.Add(d/2)
	for ; s.now.Before(end); s.now = s.now.Add(time.Second) {
		for i := range perSecond {
			_, v, _ := s.ask("GET", "/blame/"+address(i), address(int(s.now.Unix()-noon.Unix())*perSecond+i), fields...)
			if !s.now.Before(half) {
				if all++; v == Go {
					through++
				}
			}
		}
	}
	return through, all
}

// isOn reports whether a stranger is asked.
func (s *site) isOn() bool {
	s.t.Helper()
	_, v, _ := s.ask("GET", "/blame/x", "192.0.2.250")
	return v == Stranger
}
