package audit

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// reliability counts the requests that make figures unreliable.
type reliability struct {
	addresses distinct // of clients
	untimed   int64    // requests without a time
	back      int64    // times that are more than a minute before an earlier line's
	heads     int64    // HEAD requests
	unchanged int64    // responses with 304
	forwarded int64    // requests through a proxy or CDN
	private   int64    // addresses that no client on the internet has
	masked    int64    // addresses that end in .0 or ::
	unclear   int64    // clients that are not an IP address
	relative  int64    // targets without a path: hashed or masked
	hosted    int64    // requests with a host
	perSecond secondTally
}

// count counts a request; clock is the latest time before it.
func (t *reliability) count(e *logformat.Entry, clock int64) {
	t.addresses.add(xxhash.Sum64String(e.Client))
	if !e.Timed {
		t.untimed++
	} else {
		if clock-e.At > reorderWindow {
			t.back++
		}
		t.perSecond.add(e.At / 1e9)
	}
	switch {
	case e.Method == http.MethodHead:
		t.heads++
	case e.Status == http.StatusNotModified:
		t.unchanged++
	}
	if e.Forwarded {
		t.forwarded++
	}
	if e.Host != "" {
		t.hosted++
	}
	if e.Target != "" && e.Target[0] != '/' && e.Target[0] != '*' && !strings.Contains(e.Target, ":") {
		t.relative++
	}
	addr, err := netip.ParseAddr(e.Client)
	if err == nil && verify.IsSpecial(netaddr.Unmap(addr)) {
		t.private++
	}
	switch c := e.Client; {
	case strings.HasSuffix(c, ".0"), strings.HasSuffix(c, "::"):
		t.masked++
	case err != nil:
		t.unclear++
	}
}

// secondTally detects a log that was sampled: Caddy then writes only a fixed number of
// lines per second, and few more.
type secondTally struct {
	second int64
	count  int
	counts [1024]int32 // numbers of seconds, by their number of requests
}

// add counts a request in a second. Requests of the same second come in a row.
func (t *secondTally) add(second int64) {
	if second == t.second {
		t.count++
		return
	}
	t.end()
	t.second, t.count = second, 1
}

// end counts the current second.
func (t *secondTally) end() {
	if t.count > 0 {
		t.counts[min(t.count, len(t.counts)-1)]++
	}
}

// sampled reports whether many of the busiest seconds have the same, largest number of
// requests. Traffic that was not sampled does not look like that.
func (t *secondTally) sampled() (limit int, ok bool) {
	most := len(t.counts) - 1
	for most > 0 && t.counts[most] == 0 {
		most--
	}
	busy := int32(0)
	for i := (most + 1) / 2; i <= most; i++ {
		busy += t.counts[i]
	}
	return most, most >= 5 && most < len(t.counts)-1 && t.counts[most] >= 20 && t.counts[most]*3 >= busy
}
