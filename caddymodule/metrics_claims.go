package caddymodule

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// claims counts the results of verification and logs impostors. It has one row
// for each crawler in the registry. It takes no lock and is safe for concurrent
// use.
type claims struct {
	log     *zap.Logger
	monitor bool
	rows    []atomic.Pointer[claimRow] // by crawler.Crawler.Index
	now     func() time.Time
}

// claimRow counts the results of verification for one crawler, by state and
// method.
type claimRow struct {
	counters  [verify.Impostor + 1][verify.SignatureMethod + 1]atomic.Pointer[prometheus.Counter]
	throttled atomic.Pointer[prometheus.Counter] // throttled requests of the verified crawler
	gate      logGate                            // for log lines about impostors
}

func newClaims(registry *crawler.Registry, monitor bool, log *zap.Logger) *claims {
	return &claims{log: log, monitor: monitor, rows: make([]atomic.Pointer[claimRow], registry.Len()), now: time.Now}
}

func (c *claims) row(i int) *claimRow {
	if row := c.rows[i].Load(); row != nil {
		return row
	}
	c.rows[i].CompareAndSwap(nil, new(claimRow))
	return c.rows[i].Load()
}

// count counts the result of verification for a request. It logs an impostor if
// the last line about an impostor of the same crawler is at least logEvery old.
func (c *claims) count(x *exchange) {
	claim := x.Claim
	if claim.State == verify.NoMethod || x.Agent.Crawler == nil {
		return
	}
	row := c.row(x.Agent.Crawler.Index())
	counter := row.counters[claim.State][claim.Method].Load()
	if counter == nil {
		made := verifications.WithLabelValues(x.Agent.Crawler.Name, claim.Method.String(), claim.State.String())
		counter = &made
		row.counters[claim.State][claim.Method].Store(counter)
	}
	(*counter).Inc()
	if claim.State == verify.Verified && x.Action == enforce.Throttle && !c.monitor {
		row.countThrottled(x.Agent.Crawler)
	}
	if claim.State != verify.Impostor {
		return
	}
	if more, ok := row.gate.pass(c.now()); ok {
		c.write(x, more)
	}
}

// countThrottled counts a throttled request of a verified crawler. Operators
// want to see these, because a search engine that is throttled often crawls less.
func (r *claimRow) countThrottled(row *crawler.Crawler) {
	counter := r.throttled.Load()
	if counter == nil {
		made := verifiedThrottled.WithLabelValues(row.Name, string(row.Purpose))
		counter = &made
		r.throttled.Store(counter)
	}
	(*counter).Inc()
}

// write logs an impostor; more is the number of impostors that were not logged.
func (c *claims) write(x *exchange, more int64) {
	c.log.Info("a client is not the crawler that its User-Agent names",
		zap.String("crawler", x.Agent.Crawler.Name),
		zap.String("client_ip", clip(x.Client)),
		zap.Bool("denied", x.Reason == enforce.Impostor),
		zap.String("host", clip(x.r.Host)),
		zap.String("uri", clip(x.Target)),
		zap.String("user_agent", clip(x.r.UserAgent())),
		zap.Int64("not_logged", more),
	)
}
