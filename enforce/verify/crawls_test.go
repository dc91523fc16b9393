package verify

import (
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Only machines of a crawler that only crawl make a browser's request a disguise: by its list, or by
// DNS after a lookup that its own name caused.
func TestCrawls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		crawls := append([]crawler.Crawler{}, rows...)
		for i := range crawls {
			crawls[i].Verify.CrawlOnly = crawls[i].Name == "Listed" || crawls[i].Name == "Named"
		}
		registry, err := new(crawler.Registry).With(crawls...)
		if err != nil {
			t.Fatal(err)
		}
		f.registry = registry
		if f.checker, err = f.Bind(registry); err != nil {
			t.Fatal(err)
		}
		f.web.set(listURL, page(goodList))
		f.Start()
		defer f.Close()
		synctest.Wait()
		who := func(addr string, ambiguous bool) string {
			row := f.checker.Crawls(Client{Addr: netip.MustParseAddr(addr), Ambiguous: ambiguous}, f.config.Now())
			if row == nil {
				return ""
			}
			return row.Name
		}
		named := "203.0.113.1"
		for _, tt := range []struct {
			addr      string
			ambiguous bool
			want      string
		}{{"192.0.2.9", false, "Listed"}, {"192.0.2.9", true, ""}, {"::ffff:192.0.2.9", false, "Listed"}, {"198.51.100.1", false, ""}, {"10.0.0.1", false, ""}, {named, false, ""}} {
			if got := who(tt.addr, tt.ambiguous); got != tt.want {
				t.Errorf("%s, ambiguous %v: %q, want %q", tt.addr, tt.ambiguous, got, tt.want)
			}
		}
	})
}
