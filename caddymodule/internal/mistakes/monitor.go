package mistakes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// From when on monitor mode is a remark, with what enforcing would have refused, and when it
// is a problem.
const (
	monitorSeen = 7 * 24 * time.Hour
	monitorFor  = 30 * 24 * time.Hour
)

// Monitored returns what there is to say when all sites are in monitor mode since a time; zero
// means that it is not known. crawlers are the crawlers with their counts, and verifies says
// that their claims are checked.
func Monitored(since, now time.Time, verifies bool, crawlers []*statusapi.Crawler) []statusapi.Problem {
	if since.IsZero() || now.Sub(since) < monitorSeen {
		return nil
	}
	p := statusapi.Problem{Severity: statusapi.Remark, Kind: statusapi.Monitored, Subject: "monitor mode", Since: new(since.UTC()),
		Message: fmt.Sprintf("all sites are in monitor mode, for %d days at least: nothing is refused. ", now.Sub(since)/(24*time.Hour)) +
			wouldRefuse(crawlers, verifies),
		Advice: "If that is right, remove the line `mode monitor`."}
	if now.Sub(since) >= monitorFor {
		p.Severity = statusapi.Warning
	}
	return []statusapi.Problem{p}
}

// wouldRefuse says what enforcing would have refused in the last month: monitor mode alone
// counts that.
func wouldRefuse(all []*statusapi.Crawler, verifies bool) string {
	would := func(c *statusapi.Crawler) uint64 { return c.Month.WouldDeny + c.Month.WouldThrottle }
	all = slices.DeleteFunc(slices.Clone(all), func(c *statusapi.Crawler) bool { return would(c) == 0 })
	slices.SortFunc(all, func(a, b *statusapi.Crawler) int {
		return cmp.Or(cmp.Compare(would(b), would(a)), strings.Compare(a.Name, b.Name))
	})
	sum, names, engines := uint64(0), []string{}, []string{}
	for _, c := range all {
		sum, names = sum+would(c), append(names, fmt.Sprintf("%s of %s", words.Count(int64(would(c))), c.Name))
		if c.Month.VerifiedWould > 0 && slices.Contains(c.Purposes, string(crawler.Search)) {
			engines = append(engines, fmt.Sprintf("%s verified ones of %s", words.Count(int64(c.Month.VerifiedWould)), c.Name))
		}
	}
	if sum == 0 {
		return "Enforcing would have refused nothing in that time"
	}
	const shown = 5
	text := fmt.Sprintf("Enforcing would have refused %s in that time: %s. ", words.Plural(int(sum), "request", "requests"), words.List(names, shown))
	switch {
	case len(engines) > 0:
		text += "Search engines are among them: " + words.List(engines, shown)
	case verifies:
		text += "No verified search engine is among them"
	default:
		text += "Whether a search engine is among them is not known: `verify` is off"
	}
	return text + "; nobody with `exempt` ever is"
}
