package counters

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

var (
	decisions = metrics.NewDesc("decisions_total",
		"Decisions about requests of crawlers, by name in the registry or class, and of strangers.", "crawler", "action", "reason")
	verifications = metrics.NewDesc("verifications_total",
		"Requests of crawlers whose claim can be checked, by outcome: verified, impostor or unverified.", "crawler", "outcome")
	verifiedRefused = metrics.NewDesc("verified_refused_total",
		"Refused requests of verified crawlers.", "crawler", "purpose", "reason")

	reported = metrics.NewLive(prometheus.CounterValue, send, decisions, verifications, verifiedRefused)
)

// Report makes the metrics those of c.
func (c *Counters) Report() { reported.Report(0, c) }

// decided is what the metrics tell apart. They count what was decided by this process: unlike
// rows they are never evicted, and know nothing of a file.
type decided struct {
	crawler string
	purpose crawler.Purpose // of a crawler of the registry
	outcome
}

// note adds requests to the metrics. The caller holds mu.
func (c *Counters) note(r *row, more uint64) {
	if r.isPeople() {
		return
	}
	d := decided{crawler: r.label(), outcome: r.outcome}
	if r.isStrangers() {
		d.crawler = "strangers"
	}
	if r.Known && len(r.Purposes) > 0 {
		d.purpose = r.Purposes[0]
	}
	c.decided[d] += more
}

// send sends the metrics.
func send(list []*Counters, send metrics.Sender) {
	for _, c := range list {
		byReason, byClaim, refused := make(map[[3]string]uint64), make(map[[2]string]uint64), make(map[[3]string]uint64)
		c.mu.Lock()
		c.fold()
		for d, n := range c.decided {
			reason := d.Reason.String()
			byReason[[3]string{d.crawler, verdict.ActionName(d.action(), d.Monitor), reason}] += n
			if d.Claim == claim.NoMethod {
				continue
			}
			byClaim[[2]string{d.crawler, d.Claim.String()}] += n
			if d.Claim == claim.Verified && d.action() != judge.Pass && !d.Monitor {
				refused[[3]string{d.crawler, string(d.purpose), reason}] += n
			}
		}
		c.mu.Unlock()
		for labels, n := range byReason {
			send(decisions, float64(n), labels[:]...)
		}
		for labels, n := range byClaim {
			send(verifications, float64(n), labels[:]...)
		}
		for labels, n := range refused {
			send(verifiedRefused, float64(n), labels[:]...)
		}
	}
}
