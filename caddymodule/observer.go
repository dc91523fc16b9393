package caddymodule

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/managed"
	"github.com/caddy-robots/caddy-robots/headers"
)

// readsLogged is the largest number of log lines per minute with the same
// message about reads of robots.txt: clients can invent host names.
const readsLogged = 20

// observer turns what happens in the background into log lines and metrics.
type observer struct {
	log    *zap.Logger
	kind   string // of source
	review *review
}

// newObserver returns the observer of a source of a kind, which knows the
// crawlers in the registry and the headers that are sent, and has more look at
// each file. Close it once
// nothing is read any longer.
func newObserver(log *zap.Logger, kind string, registry *crawler.Registry, tags []headers.Rule, more ...func(*zap.Logger, *enforce.Policy)) *observer {
	log = sampled(log, readsLogged)
	return &observer{log: log, kind: kind, review: newReview(log, registry, tags, more...)}
}

// Close waits until what was read is reviewed as far as it will be.
func (o *observer) Close() error { return o.review.Close() }

// PolicyRead implements enforce.Observer. What does not change is logged at
// DEBUG only; a source that goes on failing shows in the metrics.
func (o *observer) PolicyRead(e enforce.PolicyRead) {
	policyReads.WithLabelValues(o.kind, e.Outcome.String()).Inc()
	if e.Outcome != enforce.Failed {
		policyReadTime.WithLabelValues(o.kind).Set(float64(time.Now().Unix()))
	}
	o.tell(&e)
	o.logMerge(&e)
	if e.Outcome == enforce.Loaded || e.Policy.Published() {
		o.review.add(e.Origin, e.Policy)
	}
}

// logMerge logs whether the operator's lines are in force, and how they
// changed since they were last published.
func (o *observer) logMerge(e *enforce.PolicyRead) {
	if err := e.Policy.MergeError(); err != nil {
		if e.Changed {
			o.log.Error("the policy is not in force: the site's own robots.txt stays as it is", append(originField(e.Origin), zap.Error(err))...)
		}
		return
	}
	if e.Was == nil || !e.Policy.Published() {
		return
	}
	if changed := managed.Changed(e.Was, e.Policy.Text()); changed != "" {
		o.log.Info("the policy's lines in robots.txt changed", append(originField(e.Origin), zap.String("changed", changed))...)
	}
}

// tell logs a read.
func (o *observer) tell(e *enforce.PolicyRead) {
	level, message := readLevel(e)
	if !e.Changed {
		level = zapcore.DebugLevel
	}
	c := o.log.Check(level, message)
	if c == nil {
		return
	}
	fields := []zap.Field{zap.String("source", o.kind), zap.Duration("took", e.Took)}
	fields = append(fields, originField(e.Origin)...)
	if e.Err != nil {
		fields = append(fields, zap.Error(e.Err))
	}
	if e.Outcome == enforce.Loaded {
		fields = append(fields, zap.Int("size", e.Policy.Size()), zap.Int("groups", e.Policy.Groups()), zap.Int("rules", e.Policy.Rules()), zap.String("version", e.Policy.Tag()))
	}
	c.Write(fields...)
}

// originField names an origin, where each has a policy of its own.
func originField(o enforce.Origin) []zap.Field {
	if o == (enforce.Origin{}) {
		return nil
	}
	return []zap.Field{zap.String("origin", clip(o.String()))}
}

// readLevel returns the level and the message with which a read is logged.
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
