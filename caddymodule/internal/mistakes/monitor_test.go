package mistakes_test

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// After seven days of monitor mode, a remark says what enforcing would have refused. After
// thirty it is a problem.
func TestMonitored(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	of := func(name, purpose string, deny, verified uint64) *statusapi.Crawler {
		c := &statusapi.Crawler{Name: name, Purposes: []string{purpose}}
		c.Month = statusapi.Counts{Requests: 9000, Decided: statusapi.Decided[uint64]{WouldDeny: deny, WouldThrottle: min(deny, 1)}, VerifiedWould: verified}
		return c
	}
	some := []*statusapi.Crawler{of("bingbot", "search", 0, 0), of("CCBot", "ai-training", 9, 9), of("GPTBot", "ai-training", 1233, 0)}
	for _, tt := range []struct {
		name     string
		days     int
		verifies bool
		crawlers []*statusapi.Crawler
		severity string
		want     string
	}{
		{"six days", 6, true, some, "", ""},
		{"since when is not known", 1e6, true, some, "", ""},
		{"nothing to refuse", 7, true, some[:1], statusapi.Remark,
			"all sites are in monitor mode, for 7 days at least: nothing is refused. Enforcing would have refused nothing in that time"},
		{"two crawlers", 29, true, some, statusapi.Remark, "all sites are in monitor mode, for 29 days at least: nothing is refused. " +
			"Enforcing would have refused 1,244 requests in that time: 1,234 of GPTBot, 10 of CCBot. No verified search engine is among them; " +
			"nobody with `exempt` ever is"},
		{"nobody is verified", 30, false, some[2:], statusapi.Warning, "all sites are in monitor mode, for 30 days at least: nothing is refused. " +
			"Enforcing would have refused 1,234 requests in that time: 1,234 of GPTBot. Whether a search engine is among them is not known: " +
			"`verify` is off; nobody with `exempt` ever is"},
		{"a search engine", 30, true, []*statusapi.Crawler{of("Googlebot", "search", 20, 12)}, statusapi.Warning,
			"all sites are in monitor mode, for 30 days at least: nothing is refused. Enforcing would have refused 21 requests in that time: " +
				"21 of Googlebot. Search engines are among them: 12 verified ones of Googlebot; nobody with `exempt` ever is"},
	} {
		since := now.AddDate(0, 0, -tt.days)
		if tt.days == 1e6 {
			since = time.Time{}
		}
		got := mistakes.Monitored(since, now, tt.verifies, tt.crawlers)
		switch {
		case tt.want == "" && len(got) > 0:
			t.Errorf("%s: %+v", tt.name, got)
		case tt.want != "" && (len(got) != 1 || got[0].Message != tt.want || got[0].Severity != tt.severity || !got[0].Since.Equal(since)):
			t.Errorf("%s: %+v\nwant %s", tt.name, got, tt.want)
		}
	}
}
