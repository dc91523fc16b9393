package audit

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// flood is a log in which each line has a new address, host, robot, page, status and
// Referer.
type flood struct {
	n, lines int
	buf      []byte
}

func (f *flood) Read(p []byte) (int, error) {
	for len(f.buf) < len(p) && f.n < f.lines {
		f.n++
		i := f.n
		at := time.Unix(1794052800+int64(i), 0).UTC().Format("02/Jan/2006:15:04:05 -0700")
		agent := fmt.Sprintf("Robot%dBot/1.0 (+https://example.org/%d)", i, i)
		if i%3 == 0 {
			agent = fmt.Sprintf("Mozilla/5.0 (iPhone%d; Example%d) AppleWebKit/%d Version/%d Mobile Safari/1", i, i, i, i)
		}
		target := fmt.Sprintf("/private/%d?utm_source=%d.google.com", i, i)
		if i%5 == 0 {
			target = "/robots.txt"
		}
		f.buf = fmt.Appendf(f.buf, "host%d.example.com:443 %d.%d.%d.%d - - [%s] \"GET %s HTTP/1.1\" %d 5 \"https://%d.google.com/\" \"%s\"\n",
			i, 1+i>>24&127, i>>16&255, i>>8&255, i&255, at, target, 200+i%400, i, agent)
	}
	if len(f.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, f.buf)
	f.buf = f.buf[:copy(f.buf, f.buf[n:])]
	return n, nil
}

// liveAfter returns the octets of memory that an audit of a flood uses at its end.
func liveAfter(t *testing.T, lines int) (int64, *auditor) {
	t.Helper()
	o := Options{
		Files:   []logfile.File{{Name: "flood.log", Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(&flood{lines: lines}), nil }}},
		Sites:   comparedSite("User-agent: *\nDisallow: /private/1\nCrawl-delay: 10\n", "User-agent: *\nDisallow: /private/2\n"),
		Against: true,
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	a, err := newAuditor(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	err = a.eachRequest(t.Context(), func(v *Judged) {
		a.reliability.count(v.Entry)
		v.decide(v.host.site.lines)
		a.count(v)
	})
	if err != nil {
		t.Fatal(err)
	}
	a.pacer.release(math.MaxInt64)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc), a
}

// The memory of an audit does not grow with the log.
func TestBoundedMemory(t *testing.T) {
	small, _ := liveAfter(t, 40_000)
	large, a := liveAfter(t, 120_000)
	if large > small+8<<20 {
		t.Errorf("%d octets after 40,000 lines, %d after 120,000", small, large)
	}
	t.Logf("%d octets after 40,000 lines, %d after 120,000", small, large)
	if n := len(a.crawlers.unlisted); n > maxUnlisted {
		t.Errorf("%d crawlers", n)
	}
	if n := len(a.hosts.named); n > maxHosts {
		t.Errorf("%d hosts", n)
	}
	r, _ := a.report()
	if !warned(r, "many_names") || len(r.Hosts) > topHosts+1 || len(r.Crawlers) > maxUnlisted+20 || len(r.Against.Differences) > maxDifferences {
		t.Errorf("%d hosts, %d crawlers, %d differences, %v", len(r.Hosts), len(r.Crawlers), len(r.Against.Differences), r.Warnings)
	}
	sum := int64(0)
	for _, c := range r.Crawlers {
		sum += c.Requests
	}
	hosts := int64(0)
	for _, h := range r.Hosts {
		hosts += h.Requests
	}
	if sum != r.Robots || hosts != r.Requests {
		t.Errorf("crawlers have %d of %d requests, hosts %d of %d", sum, r.Robots, hosts, r.Requests)
	}
	if n := r.Addresses; n < 120_000*97/100 || n > 120_000*103/100 {
		t.Errorf("%d addresses", n)
	}
}
