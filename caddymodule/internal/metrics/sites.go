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

	hostDecisions = NewDesc("host_decisions_total",
		"Like site_decisions_total, of at most 500 hosts that only a pattern names, and that had requests on two days.", "host", "action")
	hostPeople    = NewDesc("host_people_total", "Like site_people_total, of these hosts.", "host")
	hostStrangers = NewDesc("host_strangers_total", "Like site_strangers_total, of these hosts.", "host")

	sites = NewLive(prometheus.CounterValue, sendSites, siteDecisions, sitePeople, siteStrangers, hostDecisions, hostPeople, hostStrangers)
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
	isHost := func(n counters.SiteCounts) bool { return n.Pattern != "" }
	hosts := slices.DeleteFunc(slices.Clone(counts), func(n counters.SiteCounts) bool { return !isHost(n) })
	sendCounts(hosts, chooseSites(&namedHosts, hosts, maxHosts), "", hostDecisions, hostPeople, hostStrangers, send)
	counts = slices.DeleteFunc(counts, isHost)
	sendCounts(counts, chooseSites(&namedSites, counts, reports[0].most), counters.OtherSites, siteDecisions, sitePeople, siteStrangers, send)
}

// maxHosts is the largest number of hosts with a label value.
const maxHosts = 500

// sendCounts sends the counts of the sites or hosts that are named: several sites may have
// the same host. The others count as rest, unless that is "".
func sendCounts(counts []counters.SiteCounts, named map[string]int, rest string, decisions, persons, strangers *prometheus.Desc, send Sender) {
	type key struct{ name, action string }
	decided, people, checked := make(map[key]uint64), make(map[string]uint64), make(map[string]uint64)
	for _, n := range counts {
		name := n.Site
		if named[name] == 0 {
			name = rest
		}
		if name == "" {
			continue
		}
		for action, count := range n.Actions {
			decided[key{name, action}] += count
		}
		people[name] += n.People
		checked[name] += n.Strangers
	}
	for k, n := range decided {
		if n > 0 || k.name != rest {
			send(decisions, float64(n), k.name, k.action)
		}
	}
	for name, n := range people {
		if n > 0 || name != rest {
			send(persons, float64(n), name)
		}
	}
	for name, n := range checked {
		if n > 0 || name != rest {
			send(strangers, float64(n), name)
		}
	}
}

// namedSites is a map[string]int with 1 for each site that has a label value of its
// own, and namedHosts one for hosts.
var namedSites, namedHosts atomic.Value

// chooseSites chooses the sites that get a label value of their own. A site that
// has one keeps it, so that no counter goes back.
func chooseSites(chosen *atomic.Value, counts []counters.SiteCounts, most int) map[string]int {
	before, _ := chosen.Load().(map[string]int)
	slices.SortStableFunc(counts, func(a, b counters.SiteCounts) int {
		return cmp.Or(cmp.Compare(before[b.Site], before[a.Site]), cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Site, b.Site))
	})
	named := make(map[string]int)
	for _, n := range counts[:min(len(counts), most)] {
		if n.Total()+n.People > 0 && n.Site != counters.OtherSites {
			named[n.Site] = 1
		}
	}
	chosen.Store(named)
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
