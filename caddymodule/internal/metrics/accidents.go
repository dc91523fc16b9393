package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

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
