package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	accidentCount = newDesc("accidents", "Accidents of now, by kind.", "kind")

	accidents = newLive(prometheus.GaugeValue, sendAccidents, accidentCount)
)

// accidentReport counts the accidents of each kind.
type accidentReport struct{ count func() map[string]int }

// ReportAccidents reports how many accidents of each kind there are, until stop is
// called, in place of the report of an earlier call.
func ReportAccidents(count func() map[string]int) (stop func()) {
	report := &accidentReport{count}
	accidents.values.Store(0, report)
	return func() { accidents.values.CompareAndDelete(0, report) }
}

// sendAccidents sends the metric of the newest report.
func sendAccidents(reports []*accidentReport, send sender) {
	for _, report := range reports {
		for kind, n := range report.count() {
			send(accidentCount, float64(n), kind)
		}
	}
}
