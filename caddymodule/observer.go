package caddymodule

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// readsLogged is the largest number of log lines per minute with the same
// message about reads of robots.txt. Clients can invent host names, and each one
// causes a read.
const readsLogged = 20

// observer writes log lines and metrics about reads of robots.txt.
type observer struct {
	log    *zap.Logger
	kind   string // of source
	review *review
}

// newObserver returns the observer for a source of a kind. Its review of each
// file uses the registry and the header rules in tags, and calls more. Close the
// observer when no more files are read.
func newObserver(log *zap.Logger, kind string, registry *crawler.Registry, tags []headers.Setting, more ...func(*zap.Logger, *enforce.Rules)) *observer {
	log = sampled(log, readsLogged)
	return &observer{log: log, kind: kind, review: newReview(log, registry, tags, more...)}
}

// Close ends the review of files.
func (o *observer) Close() error { return o.review.Close() }

// FetchEvent implements enforce.Observer. It logs a read without a change at
// DEBUG only; the metrics show a source that keeps failing.
func (o *observer) Fetched(e enforce.FetchEvent) {
	policyReads.WithLabelValues(o.kind, e.Outcome.String()).Inc()
	if e.Outcome != enforce.Failed {
		policyReadTime.WithLabelValues(o.kind).Set(float64(time.Now().Unix()))
	}
	o.logRead(&e)
	o.logMerge(&e)
	if e.Outcome == enforce.Loaded || e.Rules.Published() {
		o.review.add(e.Origin, e.Rules)
	}
}

// logMerge logs that the managed policy is not in force, or how its lines
// changed since they were last published.
func (o *observer) logMerge(e *enforce.FetchEvent) {
	if err := e.Rules.MergeError(); err != nil {
		if e.Changed {
			o.log.Error("the policy can't be merged into robots.txt: only the site's own robots.txt is in force", append(originField(e.Origin), zap.Error(err))...)
		}
		return
	}
	if e.Was == nil || !e.Rules.Published() {
		return
	}
	if changed := managed.Changed(e.Was, e.Rules.Text()); changed != "" {
		o.log.Info("the policy's lines in robots.txt changed", append(originField(e.Origin), zap.String("changed", changed))...)
	}
}

// logRead logs a read.
func (o *observer) logRead(e *enforce.FetchEvent) {
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
		fields = append(fields, zap.Int("size", e.Rules.Size()), zap.Int("groups", e.Rules.GroupCount()), zap.Int("rules", e.Rules.RuleCount()), zap.String("version", e.Rules.Tag()))
	}
	c.Write(fields...)
}

// originField returns the log field for an origin. It is empty for a source that
// has one file for all origins.
func originField(o enforce.Origin) []zap.Field {
	if o == (enforce.Origin{}) {
		return nil
	}
	return []zap.Field{zap.String("origin", clip(o.String()))}
}

// readLevel returns the log level and the message for a read.
func readLevel(e *enforce.FetchEvent) (zapcore.Level, string) {
	switch e.Outcome {
	case enforce.Loaded:
		return zapcore.InfoLevel, "robots.txt loaded"
	case enforce.Unchanged:
		if e.Again {
			return zapcore.InfoLevel, "robots.txt can be read again, and is unchanged"
		}
		return zapcore.DebugLevel, "robots.txt is unchanged"
	case enforce.Missing:
		return zapcore.InfoLevel, "there is no robots.txt: " + withoutFile(e.Rules)
	case enforce.NotRobots:
		return zapcore.WarnLevel, "robots.txt is a web page: " + withoutFile(e.Rules)
	}
	switch {
	case e.Rules.Outcome() == enforce.Loaded:
		return zapcore.ErrorLevel, "robots.txt can't be read: the last good copy stays in force"
	case e.Rules.DeniesAll():
		return zapcore.ErrorLevel, "robots.txt can't be read: crawlers may fetch nothing"
	default:
		return zapcore.ErrorLevel, "robots.txt can't be read and there is no good copy: crawlers may fetch everything"
	}
}
