package suspect

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

const (
	chrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	mozilla = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	oldFox  = "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0"
)

// visitor sends requests to a Watch at the time now, which tests change.
type visitor struct {
	t     testing.TB
	watch *Watch
	now   time.Time
	r     Request
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	return visitorAt(t, NewWatch(Config{Entries: 7 << 6}))
}

func visitorAt(t testing.TB, w *Watch) *visitor {
	return &visitor{t, w, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Request{Site: "example.com", Client: netip.MustParseAddr("192.0.2.7"), Connection: "192.0.2.7:50000", UserAgent: chrome, Secure: true}}
}

// send sends a request with header fields, given as names and values in turn, and
// returns what the Watch says. change may change the request before.
func (v *visitor) send(target string, change func(*Request), fields ...string) Standing {
	r := v.r
	r.Target, r.Time, r.Header = target, v.now, make(http.Header)
	r.RobotsTxt = target == "/robots.txt"
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	if change != nil {
		change(&r)
	}
	return v.watch.See(&r, time.Hour)
}

// Fields of requests as Chromium sends them.
var (
	clicked = []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1"}
	typed   = []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1"}
	image   = []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}
)

func hit(h Hit) func(*Request) { return func(r *Request) { r.Trap = h } }

// hurry requests n pages, ten per second, and returns the last Standing.
func (v *visitor) hurry(n int, fields ...string) (s Standing) {
	for i := range n {
		s = v.send(fmt.Sprintf("/page/%d", i), nil, fields...)
		v.now = v.now.Add(100 * time.Millisecond)
	}
	return s
}

// addr returns the i-th of many addresses.
func addr(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}
