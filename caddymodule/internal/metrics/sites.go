package metrics

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
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
	sums := make(map[string]*counters.SiteCounts)
	for _, n := range counts {
		name := n.Site
		if named[name] == 0 {
			name = counters.OtherSites
		}
		if sums[name] == nil {
			sums[name] = &counters.SiteCounts{Actions: make(map[string]uint64)}
		}
		sums[name].Add(n)
	}
	for name, n := range sums {
		sendCount := func(d *prometheus.Desc, count uint64, labels ...string) {
			if count > 0 || name != counters.OtherSites {
				send(d, float64(count), labels...)
			}
		}
		for action, count := range n.Actions {
			sendCount(siteDecisions, count, name, action)
		}
		sendCount(sitePeople, n.People, name)
		sendCount(siteStrangers, n.Strangers, name)
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

// ReportAccidents reports how many accidents of each kind there are, until stop is
// called, in place of the report of an earlier call.
func ReportAccidents(count func() map[string]int) (stop func()) {
	return accidents.Report(0, &count)
}

// sendAccidents sends the metric of the newest report.
func sendAccidents(reports []*func() map[string]int, send Sender) {
	for _, report := range reports {
		for kind, n := range (*report)() {
			if kind == statusapi.Busy { // has a metric of its own, because it may be usual at a site
				send(sheddingCount, float64(n))
				continue
			}
			send(accidentCount, float64(n), kind)
		}
	}
}
