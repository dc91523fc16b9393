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

// maxLogged is the longest value from a client in a log line, in octets.
const maxLogged = 256

// outcomes counts decisions about crawlers and logs refusals. It has one row for
// each crawler in the registry and one for each class. It takes no lock and is
// safe for concurrent use.
type outcomes struct {
	log     *zap.Logger
	monitor bool
	rows    []atomic.Pointer[outcomeRow] // by crawler.Crawler.Index, then by class
	classes int                          // index of the first class's row
	now     func() time.Time
}

// outcomeRow has the outcomes of one crawler or class, by reason.
type outcomeRow [enforce.Reasons]outcome

// outcome counts the decisions about one crawler or class with one reason.
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

// row returns the row for a decision. It makes the row at the first decision.
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

// count counts a decision. It logs a refusal, or a request that passes only by
// grace, if the last such line is at least logEvery old.
func (o *outcomes) count(d *enforce.Decision, r *http.Request) {
	out := &o.row(d)[d.Reason]
	counter := out.counter.Load()
	if counter == nil {
		c := decisions.WithLabelValues(d.Crawler(), counters.ActionName(d.Action, o.monitor), d.Reason.String())
		counter = &c
		out.counter.Store(counter)
	}
	(*counter).Inc()
	if d.Action == enforce.Pass && d.Reason != enforce.Graced || d.Reason == enforce.Impostor { // claims logs impostors
		return
	}
	if more, ok := out.gate.pass(o.now()); ok {
		o.write(d, r, more)
	}
}

// write logs a decision; more is the number of such decisions that were not
// logged.
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
	if d.Reason != enforce.Hidden { // hidden paths are never logged, only their layer and line
		fields = append(fields, zap.String("uri", clip(originalTarget(r))))
	}
	if d.RetryAfter > 0 {
		fields = append(fields, zap.Duration("retry_after", d.RetryAfter))
	}
	message := "crawler refused by robots.txt"
	switch {
	case o.monitor && d.Action != enforce.Pass:
		message = "crawler would be refused by robots.txt"
	case d.Version != nil:
		message = "crawler allowed by an earlier robots.txt"
		fields = append(fields, zap.String("grace_ends", graceEnds(d)))
	}
	o.log.Info(message, fields...)
}

// clip shortens a value from a client to maxLogged octets.
func clip(s string) string {
	if len(s) > maxLogged {
		return s[:maxLogged]
	}
	return s
}
