package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	accidentCount = newDesc("accidents", "Accidents of now, by kind, without shedding.", "kind")
	sheddingCount = newDesc("shedding", "Sites that are busy now, so that crawlers are refused there (shed).")

	accidents = newLive(prometheus.GaugeValue, sendAccidents, accidentCount, sheddingCount)
)

// accidentReport counts the accidents of each kind.
type accidentReport struct{ count func() map[string]int }

// shedding is the kind of accident that has a metric of its own, because it may be
// usual at a site.
const shedding = "shedding"

// ReportAccidents reports how many accidents of each kind there are, until stop is
// called, in place of the report of an earlier call.
func ReportAccidents(count func() map[string]int) (stop func()) {
	return accidents.report(0, &accidentReport{count})
}

// sendAccidents sends the metric of the newest report.
func sendAccidents(reports []*accidentReport, send sender) {
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
