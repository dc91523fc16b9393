package caddymodule

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// maxLogged is how many octets of what a client sent go into a log line.
const maxLogged = 256

// outcomes counts decisions about crawlers and logs refusals. Its size is
// bounded by the registry, and counting takes no lock.
type outcomes struct {
	log     *zap.Logger
	monitor bool
	rows    []atomic.Pointer[outcomeRow] // by crawler.Crawler.Index, then one a class
	classes int                          // index of the first class's row
	now     func() time.Time
}

// outcomeRow has the outcomes of one crawler, by reason.
type outcomeRow [enforce.Reasons]outcome

// outcome counts one reason of one crawler.
type outcome struct {
	counter atomic.Pointer[prometheus.Counter]
	gate    logGate
}

func newOutcomes(registry *crawler.Registry, monitor bool, log *zap.Logger) *outcomes {
	return &outcomes{
		log:     log,
		monitor: monitor,
		rows:    make([]atomic.Pointer[outcomeRow], registry.Len()+int(crawler.Library)+1),
		classes: registry.Len(),
		now:     time.Now,
	}
}

// row returns the row of a decision's crawler, made at its first decision.
func (o *outcomes) row(d *enforce.Decision) *outcomeRow {
	i := o.classes + int(d.Agent.Class)
	if d.Agent.Crawler != nil {
		i = d.Agent.Crawler.Index()
	}
	if row := o.rows[i].Load(); row != nil {
		return row
	}
	o.rows[i].CompareAndSwap(nil, new(outcomeRow))
	return o.rows[i].Load()
}

// count counts a decision, and logs it where it denies, or lets through what the
// version in force disallows, and the last line about the same is some time ago.
func (o *outcomes) count(d *enforce.Decision, r *http.Request) {
	out := &o.row(d)[d.Reason]
	counter := out.counter.Load()
	if counter == nil {
		c := decisions.WithLabelValues(d.Crawler(), counters.ActionName(d.Action, o.monitor), d.Reason.String())
		counter = &c
		out.counter.Store(counter)
	}
	(*counter).Inc()
	if d.Action == enforce.Pass && d.Reason != enforce.Graced || d.Reason == enforce.Impostor { // which claims logs
		return
	}
	if more, ok := out.gate.pass(o.now()); ok {
		o.write(d, r, more)
	}
}

// write logs one decision; more is how many like it were not logged.
func (o *outcomes) write(d *enforce.Decision, r *http.Request, more int64) {
	fields := []zap.Field{
		zap.String("action", counters.ActionName(d.Action, o.monitor)),
		zap.String("reason", d.Reason.String()),
		zap.String("crawler", clip(d.Name())),
		zap.String("class", d.Agent.Class.String()),
		zap.String("group", clip(d.GroupToken())),
		zap.String("rule", clip(d.RuleText())),
		zap.String("layer", d.Layer.String()),
		zap.Int("line", d.Line),
		zap.String("version", d.VersionTag()),
		zap.String("host", clip(r.Host)),
		zap.String("user_agent", clip(r.UserAgent())),
		zap.Int64("not_logged", more),
	}
	if d.Reason != enforce.Hidden { // of a hidden path, only the layer and the line are told
		fields = append(fields, zap.String("uri", clip(originalTarget(r))))
	}
	if d.RetryAfter > 0 {
		fields = append(fields, zap.Duration("retry_after", d.RetryAfter))
	}
	message := "crawler stopped by robots.txt"
	switch {
	case o.monitor && d.Action != enforce.Pass:
		message = "crawler would be stopped by robots.txt"
	case d.Version != nil:
		message = "crawler let through by an earlier robots.txt"
		fields = append(fields, zap.String("grace_ends", graceEnds(d)))
	}
	o.log.Info(message, fields...)
}

// clip shortens what a client sent.
func clip(s string) string {
	if len(s) > maxLogged {
		return s[:maxLogged]
	}
	return s
}
