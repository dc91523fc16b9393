package metrics

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
)

var (
	siteDecisions = NewDesc("site_decisions_total",
		"Decisions about requests of crawlers, by site.", "site", "action")
	sitePeople    = NewDesc("site_people_total", "Requests of browsers and apps, by site.", "site")
	siteStrangers = NewDesc("site_strangers_total",
		"Requests of strangers that were refused or checked, or would have been in monitor mode, by site.", "site")

	sites = NewLive(prometheus.CounterValue, sendSites, siteDecisions, sitePeople, siteStrangers)
)

// siteReport is the report of one configuration.
type siteReport struct {
	*counters.Counters
	most int // sites that get a label value of their own; 0 for no report
}

// ReportSites reports the counts of each site until stop is called, in place of
// the report of an earlier call. The most sites that have most requests of crawlers
// get a label value of their own. If most is 0, nothing is reported.
func ReportSites(counts *counters.Counters, most int) (stop func()) {
	return sites.Report(0, &siteReport{counts, most})
}

// sendSites sends the metrics of the newest report.
func sendSites(reports []*siteReport, send Sender) {
	if len(reports) == 0 || reports[0].most == 0 {
		return
	}
	counts := reports[0].Decided()
	named := chooseSites(counts, reports[0].most)
	type key struct{ name, action string }
	decided, people, checked := make(map[key]uint64), make(map[string]uint64), make(map[string]uint64)
	for _, n := range counts {
		name := n.Site
		if named[name] == 0 {
			name = counters.OtherSites
		}
		for action, count := range n.Actions {
			decided[key{name, action}] += count
		}
		people[name] += n.People
		checked[name] += n.Strangers
	}
	for k, n := range decided {
		if n > 0 || k.name != counters.OtherSites {
			send(siteDecisions, float64(n), k.name, k.action)
		}
	}
	for name, n := range people {
		if n > 0 || name != counters.OtherSites {
			send(sitePeople, float64(n), name)
		}
	}
	for name, n := range checked {
		if n > 0 || name != counters.OtherSites {
			send(siteStrangers, float64(n), name)
		}
	}
}

// namedSites is a map[string]int with 1 for each site that has a label value of its own.
var namedSites atomic.Value

// chooseSites chooses the sites that get a label value of their own. A site that
// has one keeps it, so that no counter goes back.
func chooseSites(counts []counters.SiteCounts, most int) map[string]int {
	before, _ := namedSites.Load().(map[string]int)
	slices.SortStableFunc(counts, func(a, b counters.SiteCounts) int {
		return cmp.Or(cmp.Compare(before[b.Site], before[a.Site]), cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Site, b.Site))
	})
	named := make(map[string]int)
	for _, n := range counts[:min(len(counts), most)] {
		if n.Total()+n.People > 0 && n.Site != counters.OtherSites {
			named[n.Site] = 1
		}
	}
	namedSites.Store(named)
	return named
}

var (
	accidentCount = NewDesc("accidents", "Accidents of now, by kind, without shedding.", "kind")
	sheddingCount = NewDesc("shedding", "Sites that are busy now, so that shed refuses crawlers.")

	accidents = NewLive(prometheus.GaugeValue, sendAccidents, accidentCount, sheddingCount)
)

// accidentReport counts the accidents of each kind.
type accidentReport struct{ count func() map[string]int }

// shedding is the kind of accident that has a metric of its own, because it may be
// usual at a site.
const shedding = "shedding"

// ReportAccidents reports how many accidents of each kind there are, until stop is
// called, in place of the report of an earlier call.
func ReportAccidents(count func() map[string]int) (stop func()) {
	return accidents.Report(0, &accidentReport{count})
}

// sendAccidents sends the metric of the newest report.
func sendAccidents(reports []*accidentReport, send Sender) {
	for _, report := range reports {
		for kind, n := range report.count() {
			if kind == shedding {
				send(sheddingCount, float64(n))
				continue
			}
			send(accidentCount, float64(n), kind)
		}
	}
}
