package fleet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// toldBySites returns what a server with n busy sites and 200 crawlers tells.
func toldBySites(n int) *told {
	r := rand.New(rand.NewPCG(1, 2))
	count := func() uint64 { return r.Uint64N(100_000) }
	counts := func() statusapi.FleetCounts {
		return statusapi.FleetCounts{Requests: count(), Denied: count(), Throttled: count(), WouldRefuse: count(), People: count()}
	}
	spans := func() statusapi.FleetSpans { return statusapi.FleetSpans{Hour: counts(), Day: counts()} }
	t := &told{Server: "web1.example.com"}
	for i := range n {
		t.Sites = append(t.Sites, statusapi.FleetRow{Name: fmt.Sprintf("tenant%d-%d.example.com", i, r.Uint32()), Pattern: "*.example.com", FleetSpans: spans()})
	}
	for i := range maxCrawlers {
		t.Crawlers = append(t.Crawlers, statusapi.FleetRow{Name: fmt.Sprintf("Crawler%d", i), Class: "crawler", FleetSpans: spans()})
	}
	return t
}

// What a server tells is bounded, so that 500 servers take no more than 10 MB of Redis and 1 MB/s. What has no room is counted.
func TestToldIsBounded(t *testing.T) {
	for _, c := range []struct{ sites, servers int }{{0, 500}, {10, 500}, {1000, 500}, {1000, 3}, {10_000, 3}} {
		n := c.sites
		one := toldBySites(n)
		value := one.encode(c.servers)
		got, err := decodeTold(value)
		if err != nil || len(value)*c.servers > allTold || c.servers == 3 && got.More > 0 || len(got.Sites)+got.More != n || len(got.Crawlers) != maxCrawlers {
			t.Errorf("%d sites: %d octets, %d sites and %d more, %d crawlers: %v", n, len(value), len(got.Sites), got.More, len(got.Crawlers), err)
		}
		if n >= 10 && got.Sites[3] != one.Sites[3] {
			t.Errorf("%+v, want %+v", got.Sites[3], one.Sites[3])
		}
		t.Logf("%d sites of %d servers: %d octets, %d told", n, c.servers, len(value), len(got.Sites))
	}
}

// The counts of a pattern have those of its hosts. Whoever may see a host only gets the host's.
func TestFleetSums(t *testing.T) {
	now := time.Now()
	spans := func(hour, day uint64) statusapi.FleetSpans {
		return statusapi.FleetSpans{Hour: statusapi.FleetCounts{Requests: hour}, Day: statusapi.FleetCounts{Requests: day}}
	}
	one := &told{Server: "a", Sites: []statusapi.FleetRow{{Name: "*.example.com", FleetSpans: spans(10, 100)},
		{Name: "t1.example.com", Pattern: "*.example.com", FleetSpans: spans(1, 2)}},
		Crawlers: []statusapi.FleetRow{{Name: "GPTBot", Class: "crawler", FleetSpans: spans(7, 8)}}}
	for _, c := range []struct {
		scope              statusapi.Scope
		requests, crawlers int
		sites              string
	}{
		{statusapi.AllSites(), 200, 1, "*.example.com t1.example.com "},
		{statusapi.Sites("*.example.com"), 200, 0, "*.example.com t1.example.com "},
		{statusapi.Sites("t1.example.com"), 4, 0, "t1.example.com "},
		{statusapi.Sites("t2.example.com"), 0, 0, ""},
	} {
		v := newView(c.scope, now)
		one.id, one.at = "1", now
		v.add(one, true)
		one.id, one.at = "2", now.Add(-time.Minute)
		v.add(one, false)
		v.finish(statusapi.FleetQuery{})
		sites := ""
		for _, s := range v.Sites {
			sites += s.Name + " "
		}
		if v.Sum.Day.Requests != uint64(c.requests) || len(v.Crawlers) != c.crawlers || sites != c.sites {
			t.Errorf("%v: %d requests, %d crawlers, sites %s", c.scope, v.Sum.Day.Requests, len(v.Crawlers), sites)
		}
		if len(v.Servers) != 2 || !v.Servers[0].Alive || v.Servers[1].Alive {
			t.Errorf("%+v", v.Servers)
		}
	}
}

func FuzzDecodeTold(f *testing.F) {
	f.Add(toldBySites(3).encode(1))
	f.Add(compressor.EncodeAll([]byte(`{"server":"\u0000","sites":[{"name":"x","hour":{"requests":1}}],"more":-3}`), nil))
	f.Add(compressor.EncodeAll(bytes.Repeat([]byte(" "), 1<<22), nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := decodeTold(value)
		if err != nil {
			return
		}
		if len(got.Sites) > maxSites || len(got.Crawlers) > maxCrawlers || len(got.Server) > maxName || got.More < 0 {
			t.Errorf("%d sites, %d crawlers", len(got.Sites), len(got.Crawlers))
		}
	})
}
