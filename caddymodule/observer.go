package caddymodule

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// readsLogged is how many lines a minute at most tell the same of reading
// robots.txt: clients make up host names.
const readsLogged = 20

// observer turns what happens beside requests into log lines and metrics.
type observer struct {
	log  *zap.Logger
	kind string // of source
}

func newObserver(log *zap.Logger, kind string) *observer {
	sampled := zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, readsLogged, 0)
	})
	return &observer{log: log.WithOptions(sampled), kind: kind}
}

// PolicyRead implements enforce.Observer. What does not change is logged at
// DEBUG only; a source that goes on failing shows in the metrics.
func (o *observer) PolicyRead(e enforce.PolicyRead) {
	policyReads.WithLabelValues(o.kind, e.Outcome.String()).Inc()
	if e.Outcome != enforce.Failed {
		policyReadTime.WithLabelValues(o.kind).Set(float64(time.Now().Unix()))
	}
	level, message := readLevel(&e)
	if !e.Changed {
		level = zapcore.DebugLevel
	}
	c := o.log.Check(level, message)
	if c == nil {
		return
	}
	fields := []zap.Field{zap.String("source", o.kind), zap.Duration("took", e.Took)}
	if e.Origin != (enforce.Origin{}) {
		fields = append(fields, zap.String("origin", clip(e.Origin.String())))
	}
	if e.Err != nil {
		fields = append(fields, zap.Error(e.Err))
	}
	if e.Outcome == enforce.Loaded {
		fields = append(fields, zap.Int("size", e.Policy.Size()), zap.Int("groups", e.Policy.Groups()), zap.Int("rules", e.Policy.Rules()))
	}
	c.Write(fields...)
	if e.Outcome == enforce.Loaded {
		o.unenforceable(e.Policy)
	}
}

// readLevel returns how loudly and in which words a read is logged.
func readLevel(e *enforce.PolicyRead) (zapcore.Level, string) {
	switch e.Outcome {
	case enforce.Loaded:
		return zapcore.InfoLevel, "robots.txt loaded"
	case enforce.Unchanged:
		return zapcore.DebugLevel, "robots.txt is unchanged"
	case enforce.Missing:
		return zapcore.InfoLevel, "there is no robots.txt: crawlers may fetch everything"
	case enforce.NotRobots:
		return zapcore.WarnLevel, "robots.txt is a web page: crawlers may fetch everything"
	}
	switch {
	case e.Policy.Outcome() == enforce.Loaded:
		return zapcore.ErrorLevel, "robots.txt can't be read: the last good copy stays in force"
	case e.Policy.DeniesAll():
		return zapcore.ErrorLevel, "robots.txt can't be read: crawlers may fetch nothing"
	default:
		return zapcore.ErrorLevel, "robots.txt can't be read and there is no good copy: crawlers may fetch everything"
	}
}

// unenforceable names the groups that no request will ever fall to.
func (o *observer) unenforceable(p *enforce.Policy) {
	for _, token := range p.Unenforceable() {
		o.log.Warn("robots.txt has a group that no server can enforce: its token arrives in no request",
			zap.String("token", clip(token)), zap.Int("line", p.File().Named(token).Line()))
	}
}
