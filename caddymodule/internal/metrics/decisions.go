package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

var (
	decisions = NewCounter("decisions_total",
		"Decisions about requests of crawlers, by name in the registry or class.", "crawler", "action", "reason")
	verifications = NewCounter("verifications_total",
		"Requests of crawlers whose claim can be checked, by confirming method and outcome: verified, impostor or unverified.",
		"crawler", "method", "outcome")
	verifiedRefused = NewCounter("verified_refused_total",
		"Refused requests of verified crawlers.", "crawler", "purpose", "reason")
)

// lineRates are the rates of log lines about one crawler with the same reason at one site
// block, and of all lines of the block, so that a flood of requests can't flood the log,
// whatever hosts they name.
var lineRates = logquota.Rates{Each: 10 * time.Second, All: time.Second, AllBurst: 30}

// Decisions counts the decisions about crawlers and the results of their
// verification, and logs refusals and impostors. It takes no lock and is safe for
// concurrent use.
type Decisions struct {
	log     *zap.Logger
	block   func() string
	rows    func() []atomic.Pointer[row] // by crawler.Crawler.Index, then by class
	classes int                          // index of the first class's row
}

// row has the counters of one crawler or class.
type row struct {
	reasons [2][]counter // by reason: refused or let through; in monitor mode
	claims  [claim.Impostor + 1][claim.SignatureMethod + 1]counter
	refused []counter // by reason: requests of the verified crawler
}

// counter is a prometheus.Counter that is looked up at its first use.
type counter struct {
	atomic.Pointer[prometheus.Counter]
}

// inc adds 1. lookup looks the counter up.
func (c *counter) inc(lookup func() prometheus.Counter) {
	found := c.Load()
	if found == nil {
		first := lookup()
		found = &first
		c.Store(found)
	}
	(*found).Inc()
}

// NewDecisions returns a Decisions for the crawlers in a registry. block returns a name for the
// site block.
func NewDecisions(registry *crawler.Registry, log *zap.Logger, block func() string) *Decisions {
	n := registry.Len()
	rows := sync.OnceValue(func() []atomic.Pointer[row] { return make([]atomic.Pointer[row], n+int(crawler.Library)+1) })
	return &Decisions{log: log, block: sync.OnceValue(block), rows: rows, classes: n}
}

func newRow() *row {
	n := judge.NumReasons()
	return &row{reasons: [2][]counter{make([]counter, n), make([]counter, n)}, refused: make([]counter, n)}
}

// row returns the row for a decision. It makes the row at the first decision.
func (c *Decisions) row(d *judge.Decision) *row {
	i := c.classes + int(d.Agent.SentClass())
	if d.Agent.Crawler != nil {
		i = d.Agent.Crawler.Index()
	}
	at := &c.rows()[i]
	if row := at.Load(); row != nil {
		return row
	}
	at.CompareAndSwap(nil, newRow())
	return at.Load()
}

// nameOf returns the crawler's name in the registry or, if the registry does not have
// it, its class, so that the number of different names is limited.
func nameOf(d *judge.Decision) string {
	if d.Agent.Crawler != nil {
		return d.Agent.Crawler.Name
	}
	return verdict.Class(d)
}

// Count counts a decision. It logs a refusal, a request that passes only by
// grace, or an impostor, as lineRates allow.
func (c *Decisions) Count(q *judge.Request, d *judge.Decision, r *http.Request) {
	row := c.row(d)
	reasons := row.reasons[0]
	if d.Monitored {
		reasons = row.reasons[1]
	}
	reasons[d.Reason].inc(func() prometheus.Counter {
		return decisions.WithLabelValues(nameOf(d), verdict.ActionName(d.Action, d.Monitored), d.Reason.String())
	})
	if (d.Action != judge.Pass || d.Reason == judge.Graced) && d.Reason != judge.Impostor {
		if omitted, ok := c.passes(q, d, d.Reason); ok {
			c.logDecision(q, d, r, omitted)
		}
	}
	if d.Agent.Crawler != nil && d.Claim.State != claim.NoMethod {
		c.countClaim(row, q, d, r)
	}
}

// lines limits the log lines of all handlers.
var lines = logquota.NewGates(4096)

// passes reports whether a line may be logged, and how many were not before it.
func (c *Decisions) passes(q *judge.Request, d *judge.Decision, reason judge.Reason) (omitted int64, ok bool) {
	return lines.Pass(q.Time.UnixNano(), logquota.Event{Place: c.block(), Name: nameOf(d), Kind: uint8(reason)}, &lineRates)
}

// countClaim counts the result of verification for a request. Operators want to
// see verified crawlers that are throttled, because a search engine that is
// throttled often crawls less.
func (c *Decisions) countClaim(row *row, q *judge.Request, d *judge.Decision, r *http.Request) {
	from, said := d.Agent.Crawler, d.Claim
	row.claims[said.State][said.Method].inc(func() prometheus.Counter {
		return verifications.WithLabelValues(from.Name, said.Method.String(), said.State.String())
	})
	if said.State == claim.Verified && d.Action != judge.Pass && !d.Monitored {
		row.refused[d.Reason].inc(func() prometheus.Counter {
			return verifiedRefused.WithLabelValues(from.Name, string(from.Purpose()), d.Reason.String())
		})
	}
	if said.State != claim.Impostor {
		return
	}
	if omitted, ok := c.passes(q, d, judge.Impostor); ok {
		c.log.Info("a client is not the crawler that its User-Agent names", zap.Int64("not_logged", omitted),
			zap.String("crawler", from.Name),
			zap.String("client_ip", Clip(q.Client)),
			zap.Bool("denied", d.Reason == judge.Impostor),
			zap.String("host", hostField(r.Host)),
			zap.String("uri", Clip(q.Target)),
			zap.String("user_agent", Clip(r.UserAgent())),
		)
	}
}

// hostField returns a host for the log, without its port: "" if it is no host name, because
// a command may get it as an argument.
func hostField(host string) string {
	if name := judge.NewOrigin("", host, 0).Host; counters.IsHostName(name) {
		return name
	}
	return ""
}

// logDecision logs a decision.
func (c *Decisions) logDecision(q *judge.Request, d *judge.Decision, r *http.Request, omitted int64) {
	v := verdict.Of(d)
	fields := []zap.Field{
		zap.Int64("not_logged", omitted),
		zap.String("action", v.Action),
		zap.String("reason", v.Reason),
		zap.String("crawler", Clip(v.Crawler)),
		zap.String("class", v.Class),
		zap.String("group", Clip(v.Group)),
		zap.String("rule", Clip(v.Rule)),
		zap.String("layer", v.Layer),
		zap.String("file", v.File),
		zap.Int("line", v.Line),
		zap.String("version", v.Version),
		zap.String("host", hostField(r.Host)),
		zap.String("user_agent", Clip(r.UserAgent())),
	}
	if !d.Layer.Info().Secret { // of secret lines, only the layer and the line are logged
		fields = append(fields, zap.String("uri", Clip(q.Target)))
	}
	if d.RetryAfter > 0 {
		fields = append(fields, zap.Duration("retry_after", d.RetryAfter))
	}
	message := "crawler refused by robots.txt"
	switch {
	case d.Monitored && d.Action != judge.Pass:
		message = "crawler would be refused by robots.txt"
	case d.Version != nil:
		message = "crawler allowed by an earlier robots.txt"
		fields = append(fields, zap.String("grace_ends", v.GraceEnds))
	}
	c.log.Info(message, fields...)
}
