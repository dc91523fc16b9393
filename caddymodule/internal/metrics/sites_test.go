package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// Of the hosts that only a pattern names, at most 500 that had requests on two days
// have a label value. The site of the pattern counts all.
func TestHostsWithALabel(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := counters.New(func() time.Time { return now })
	visit := func(host string) { c.Site(statusapi.AnySite).Host(host, now).CountPerson(0) }
	for range 2 {
		for i := range 600 {
			visit(fmt.Sprintf("t%d.example", i))
		}
		c.Fold()
		now = now.Add(24 * time.Hour)
		c.Fold()
	}
	for i := range 100 {
		visit(fmt.Sprintf("new-%d.example", i))
	}
	site, hosts := 0.0, make(map[string]float64)
	sendSites([]*siteReport{{c, 10}}, func(d *prometheus.Desc, value float64, labels ...string) {
		switch d {
		case sitePeople:
			site += value
		case hostPeople:
			hosts[labels[0]] = value
		}
	})
	if site != 1300 || len(hosts) != maxHosts {
		t.Errorf("%v requests to the site, %d hosts", site, len(hosts))
	}
	for host, n := range hosts {
		if n != 2 {
			t.Errorf("%s: %v", host, n)
		}
	}
}
