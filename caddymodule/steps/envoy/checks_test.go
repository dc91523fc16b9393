package envoy

import (
	"net/http"
	"strings"
	"testing"
)

// fields returns the header with some lines.
func fields(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}

// gapsOf returns the parts of gaps that are in messages.
func gapsOf(c *checks) (found string) {
	for _, gap := range c.gaps(true, []string{"shed"}) {
		for _, part := range []string{"User-Agent", "addresses", "X-Forwarded-Proto", "/robots.txt", "shed"} {
			if strings.Contains(gap.Message, part) {
				found += part + " "
			}
		}
	}
	return found
}

// What all of many checks lack is a gap, until one has it, or until they are not nearly
// all requests any more.
func TestChecks(t *testing.T) {
	type request struct {
		n       int
		target  string
		peer    string
		trusted bool
		fields  []string
		known   bool
	}
	const private, public, check = "10.0.0.5:4711", "192.0.2.7:4711", "X-Envoy-Internal: true|Content-Length: 0"
	asks := func(n int, fields ...string) request {
		return request{n, "/x", private, false, append(strings.Split(check, "|"), fields...), false}
	}
	at := func(r request, target, peer string, trusted, known bool) request {
		return request{r.n, target, peer, trusted, r.fields, known}
	}
	page := func(n int) request { return request{n, "/x", private, false, []string{"User-Agent: x"}, false} }
	const all = "User-Agent addresses X-Forwarded-Proto shed "
	for name, tt := range map[string]struct {
		requests []request
		want     string
	}{
		"none":                            {nil, ""},
		"too few":                         {[]request{asks(99)}, ""},
		"enough":                          {[]request{asks(100)}, all},
		"of a trusted public proxy":       {[]request{at(asks(100), "/x", public, true, false)}, all},
		"of a public address":             {[]request{at(asks(300), "/x", public, false, false)}, ""},
		"of no address":                   {[]request{at(asks(300), "/x", "@", false, false)}, ""},
		"of containers":                   {[]request{at(asks(100), "/x", "100.64.3.4:1", false, false)}, all},
		"one has a User-Agent":            {[]request{asks(99), asks(1, "User-Agent: x")}, "addresses X-Forwarded-Proto shed "},
		"an empty one":                    {[]request{asks(99), asks(1, "User-Agent: ")}, "addresses X-Forwarded-Proto shed "},
		"later":                           {[]request{asks(200), asks(1, "User-Agent: x", "X-Forwarded-Proto: https")}, "addresses shed "},
		"an address":                      {[]request{asks(99), at(asks(1), "/x", private, true, true)}, "User-Agent X-Forwarded-Proto shed "},
		"with a body":                     {[]request{{300, "/x", private, false, []string{"X-Envoy-Internal: true", "Content-Length: 5"}, false}}, ""},
		"of Envoy as the proxy":           {[]request{{300, "/x", private, false, []string{"X-Envoy-Internal: true", "X-Request-Id: 1"}, false}}, ""},
		"among as many others":            {[]request{asks(60), page(60), asks(60), page(60)}, ""},
		"others before":                   {[]request{page(300), asks(100)}, all},
		"a few others":                    {[]request{asks(1000), page(100)}, all},
		"no checks any more":              {[]request{asks(1000), page(200)}, ""},
		"some robots.txt":                 {[]request{asks(100), at(asks(9), "/robots.txt", private, false, false)}, all},
		"many robots.txt":                 {[]request{asks(100), at(asks(10), "/robots.txt", private, false, false)}, strings.Replace(all, "shed", "/robots.txt shed", 1)},
		"which are read here too":         {[]request{asks(100), at(asks(10), "/robots.txt?x", private, false, false), at(page(1), "/robots.txt", private, false, false)}, all},
		"reads are no others":             {[]request{asks(100), at(page(300), "/robots.txt", private, false, false)}, all},
		"a new count knows nothing of it": {[]request{asks(100, "User-Agent: x"), page(100), asks(100)}, all},
	} {
		c := new(checks)
		for _, r := range tt.requests {
			for range r.n {
				c.note(&http.Request{RemoteAddr: r.peer, Header: fields(r.fields...)}, r.target, r.trusted, r.known)
			}
		}
		if got := gapsOf(c); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Note says once that there may be gaps.
func TestNoteOnce(t *testing.T) {
	c, said := new(checks), 0
	r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: fields("X-Envoy-Internal: true", "Content-Length: 0")}
	for range 5000 {
		if c.note(r, "/x", false, false) {
			said++
		}
	}
	for range 50 {
		if c.note(r, "/robots.txt", false, false) {
			said += 10
		}
	}
	if said != 11 {
		t.Errorf("%d", said)
	}
	if n := testing.AllocsPerRun(100, func() { c.note(r, "/x", false, false) }); n > 0 {
		t.Errorf("a check allocates %v times", n)
	}
}
