package counters

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// lineRates are the rates of log lines about one crawler with the same reason at one site
// block, and of all lines of the block, so that a flood of requests can't flood the log,
// whatever hosts they name.
var lineRates = logquota.Rates{Each: 10 * time.Second, All: time.Second, AllBurst: 30}

// lines limits the log lines of all site blocks.
var lines = logquota.NewGates(4096)

// Log logs decisions of one site block: refusals, requests that pass only by grace,
// and impostors, as lineRates allow. It takes no lock and is safe for concurrent use.
type Log struct {
	log   *zap.Logger
	block func() string
}

// NewLog returns a Log. block returns a name for the site block.
func NewLog(log *zap.Logger, block func() string) *Log { return &Log{log, sync.OnceValue(block)} }

// write logs a decision about a client with a label.
func (l *Log) write(label string, d *judge.Decision, r *Request) {
	isImpostor := d.Claim.State == claim.Impostor
	if d.Action == judge.Pass && d.Reason != judge.Graced && !isImpostor {
		return
	}
	omitted, ok := lines.Pass(r.Time.UnixNano(), logquota.Event{Place: l.block(), Name: label, Kind: uint8(d.Reason)}, &lineRates)
	if !ok {
		return
	}
	v := verdict.Of(d)
	fields := []zap.Field{
		zap.Int64("not_logged", omitted),
		zap.String("action", v.Action),
		zap.String("reason", v.Reason),
		zap.String("crawler", metrics.Clip(v.Crawler)),
		zap.String("class", v.Class),
		zap.String("group", metrics.Clip(v.Group)),
		zap.String("rule", metrics.Clip(v.Rule)),
		zap.String("layer", v.Layer),
		zap.String("file", v.File),
		zap.Int("line", v.Line),
		zap.String("version", v.Version),
	}
	if IsHostName(r.Origin.Host) { // a command may get it as an argument
		fields = append(fields, zap.String("host", r.Origin.Host))
	}
	if len(r.UserAgents) > 0 {
		fields = append(fields, zap.String("user_agent", metrics.Clip(r.UserAgents[0])))
	}
	if !d.Layer.Info().Secret { // of secret lines, only the layer and the line are logged
		fields = append(fields, zap.String("uri", metrics.Clip(r.Target)))
	}
	if d.RetryAfter > 0 {
		fields = append(fields, zap.Duration("retry_after", d.RetryAfter))
	}
	message := "crawler refused by robots.txt"
	switch {
	case isImpostor:
		message = "a client is not the crawler that its User-Agent names"
		fields = append(fields, zap.String("client_ip", metrics.Clip(r.Client)))
	case d.Monitored && d.Action != judge.Pass:
		message = "crawler would be refused by robots.txt"
	case d.Version != nil:
		message = "crawler allowed by an earlier robots.txt"
		fields = append(fields, zap.String("grace_ends", v.GraceEnds))
	}
	l.log.Info(message, fields...)
}
