package suspect

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// BenchmarkSee measures the cost of See. In the rows with many visitors, each request
// is from another of 300,000 visitors with 2,000 User-Agents, so that the processor's
// caches do not have its data.
func BenchmarkSee(b *testing.B) {
	header := func(fields ...string) http.Header {
		h := http.Header{"Accept": {"text/html"}, "Accept-Language": {"en"}, "Accept-Encoding": {"gzip"}, "Sec-Ch-Ua-Platform": {`"Windows"`}, "Upgrade-Insecure-Requests": {"1"}}
		for i := 0; i+1 < len(fields); i += 2 {
			h.Set(fields[i], fields[i+1])
		}
		return h
	}
	for _, bb := range []struct {
		name     string
		header   http.Header
		visitors int
		agent    string
	}{
		{"with_a_cookie", header("Cookie", "a=b"), 1, chrome},
		{"document", header(clicked...), 1, chrome},
		{"image", header(image...), 1, chrome},
		{"document_of_many_visitors", header(clicked...), 300_000, chrome},
		{"image_of_many_visitors", header(image...), 300_000, chrome},
		{"a_browser_without_the_fields", header(), 1, oldFox},
	} {
		b.Run(bb.name, func(b *testing.B) {
			w := NewWatch(Config{})
			agents := make([]string, 2000)
			for i := range agents {
				agents[i] = strings.Replace(bb.agent, "131.0.0.0", fmt.Sprintf("%d.0.%d.0", 100+i%40, i/40), 1)
			}
			targets := make([]string, 1024)
			for i := range targets {
				targets[i] = fmt.Sprintf("/articles/2026/%d/some-article.html", i)
			}
			r := Request{Site: "example.com", Header: bb.header, Connection: "192.0.2.7:50000", Secure: true, Time: time.Now()}
			see := func(i int) {
				var a [4]byte
				n := uint32(i*7919) % uint32(bb.visitors)
				binary.BigEndian.PutUint32(a[:], 0x0a000000+n)
				r.Client, r.UserAgent, r.Target = netip.AddrFrom4(a), agents[n%2000], targets[i%1024]
				w.See(&r, time.Hour)
			}
			for i := range bb.visitors {
				see(i)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				see(i)
			}
		})
	}
}

// BenchmarkSeeParallel calls See on all processors at once.
func BenchmarkSeeParallel(b *testing.B) {
	w := NewWatch(Config{})
	b.RunParallel(func(pb *testing.PB) {
		r := Request{Site: "example.com", Header: http.Header{}, Connection: "192.0.2.7:50000", UserAgent: chrome, Secure: true, Time: time.Now()}
		for i := 0; i < len(clicked); i += 2 {
			r.Header.Set(clicked[i], clicked[i+1])
		}
		for i := uint32(0); pb.Next(); i++ {
			var a [4]byte
			binary.BigEndian.PutUint32(a[:], i%100_000)
			r.Client, r.Target = netip.AddrFrom4(a), "/articles/2026/some-article.html"
			w.See(&r, time.Hour)
		}
	})
}

func BenchmarkMint(b *testing.B) {
	k := testKey(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		Trap("/calendar-all/").Mint(k, "example.com", here, noon)
	}
}
