package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

var (
	accidentCount = NewDesc("accidents", "Accidents of now, by kind.", "kind")

	accidents = NewLive(prometheus.GaugeValue, sendAccidents, accidentCount)
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
			send(accidentCount, float64(n), kind)
		}
	}
}
