package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

var (
	suspectSignals = newCounter("suspect_signals_total",
		"Signals of clients that send a browser's User-Agent and behave like robots, by signal.", "signal")
	suspectsFound = newCounter("suspects_found_total",
		"Clients that became suspects, after two independent signals.").WithLabelValues()
	suspectShares = newCounter("suspect_shares_total", "Attempts to share signals with the other servers of the fleet, by result.", "result")

	suspectCount = newDesc("suspects", "Clients that are suspects now. Absent without suspects in the configuration.")
	watches      = newLive(prometheus.GaugeValue, sendWatches, suspectCount)
)

// suspectLines is the largest number of log lines about suspects in a minute.
const suspectLines = 20

// maxListed is larger than any number of suspects.
const maxListed = 1 << 20

// Suspects is a suspect.Observer. The zero value is ready.
type Suspects struct{ log logger }

// Start begins to report on a watch, and logs to log from now on.
func (s *Suspects) Start(watch *suspect.Watch, log *zap.Logger) {
	s.log.set(limited(log, suspectLines))
	watches.values.Store(s, watch)
}

// Close ends the report.
func (s *Suspects) Close() { watches.values.Delete(s) }

// KeyFailed logs that the key of trap URLs can't be used.
func (s *Suspects) KeyFailed(err error) {
	s.log.Load().Error("suspects: the key of trap URLs can't be read or stored: for now, trap URLs are valid in this process only",
		zap.Error(err))
}

// Shared counts an attempt to share signals with a fleet.
func (*Suspects) Shared(err error) { suspectShares.WithLabelValues(resultOf(err, "error")).Inc() }

// Raised implements suspect.Observer.
func (*Suspects) Raised(s suspect.Signal) { suspectSignals.WithLabelValues(s.String()).Inc() }

// Suspected implements suspect.Observer.
func (s *Suspects) Suspected(found *suspect.Suspect) {
	suspectsFound.Inc()
	var signals suspect.Signals
	for _, c := range found.Signals {
		signals |= 1 << c.Signal
	}
	s.log.Load().Info("a client behaves like a robot and sends a browser's User-Agent",
		zap.String("host", Clip(found.Site)), zap.Stringer("network", found.Network), zap.String("browser", found.Browser.Family),
		zap.Int("version", found.Browser.Version), zap.Stringer("signals", signals), zap.Int("documents", found.Documents),
		zap.Int("embedded", found.Embedded), zap.Time("until", found.Until))
}

// sendWatches sends the metric of the watches. There is one in a process.
func sendWatches(watches []*suspect.Watch, send sender) {
	for _, w := range watches {
		send(suspectCount, float64(len(w.Suspects(time.Now(), maxListed))))
	}
}
