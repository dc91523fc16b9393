package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/headers"
)

// readsLogged is the largest number of log lines per minute with the same
// message about reads of robots.txt. Clients can invent host names, and each one
// causes a read.
const readsLogged = 20

var (
	fetches       = NewCounter("fetches_total", "Fetches of robots.txt, by source and outcome.", "source", "outcome")
	lastGoodFetch = Collected(prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "caddy_robots_last_good_fetch_timestamp_seconds",
		Help: "Unix time of the last fetch of a robots.txt that did not fail, by source.",
	}, []string{"source"}))
	registryReads = NewCounter("registry_fetches_total", "Fetches of a registry, by outcome: loaded, unchanged or failed.",
		"outcome")
)

// CountRegistryRead counts an attempt to read a registry file or URL, with the
// outcome loaded, unchanged or failed.
func CountRegistryRead(outcome string) { registryReads.WithLabelValues(outcome).Inc() }

// Reads counts and logs the reads of robots.txt. It reviews each file that was read: it logs the
// lines that have no effect, or not the intended one.
type Reads struct {
	// Needed says that nothing is refused without a robots.txt. Set it before the first read.
	Needed bool

	log      *zap.Logger
	kind     string // of source
	registry *crawler.Registry
	tags     []headers.Setting
	more     func(*zap.Logger, *judge.Rules) // may be nil

	mu      sync.Mutex
	waiting []waiting
	working bool

	running sync.Mutex // held while a file is reviewed
	closed  bool       // guarded by running
}

// NewReads returns the observer for a source of a kind. Its review of each file
// uses the registry and the header rules in tags, and calls more, which
// may be nil. Close it when no more files are read.
func NewReads(log *zap.Logger, kind string, registry *crawler.Registry, tags []headers.Setting,
	more func(*zap.Logger, *judge.Rules)) *Reads {
	return &Reads{log: Limited(log, readsLogged), kind: kind, registry: registry, tags: tags, more: more}
}

// Review reviews a file that was read, now and not later.
func (o *Reads) Review(rules *judge.Rules) *mistakes.Review {
	o.run(judge.Origin{}, rules)
	return ReviewOf(rules)
}

// Fetched is for origins.Config. It logs a read without a change at DEBUG only;
// the metrics show a source that keeps failing.
func (o *Reads) Fetched(e origins.FetchEvent) {
	fetches.WithLabelValues(o.kind, e.Outcome.String()).Inc()
	if e.Repeated {
		repeatedFetches.WithLabelValues().Inc()
		repeated.add(clock.Now())
	}
	if e.Outcome != judge.Failed {
		lastGoodFetch.WithLabelValues(o.kind).Set(float64(clock.Now().Unix()))
	}
	o.logRead(&e)
	o.logUnmerged(&e)
	// After a reload, a file that did not change may have mistakes by the new settings.
	if e.Changed && (e.Outcome == judge.Loaded || e.Outcome == judge.Unchanged) || e.Rules.Published() {
		o.add(e.Origin, e.Rules)
	}
}

// logUnmerged logs that the lines of the configuration are not in force.
func (o *Reads) logUnmerged(e *origins.FetchEvent) {
	if err := e.Rules.MergeError(); err != nil && e.Changed {
		o.log.Error("the lines of the configuration can't be added to robots.txt: only the site's own is in force", originField(e.Origin), zap.Error(err))
	}
}

// logRead logs a read.
func (o *Reads) logRead(e *origins.FetchEvent) {
	level, message := ReadLevel(e)
	refusesNothing := o.Needed && e.Outcome == judge.Missing && !e.Rules.Published()
	if refusesNothing {
		level, message = zapcore.WarnLevel, "there is no robots.txt: nothing is refused"
	}
	if !e.Changed && !e.Held {
		level = zapcore.DebugLevel
	}
	c := o.log.Check(level, message)
	if c == nil {
		return
	}
	fields := []zap.Field{zap.String("source", o.kind), zap.Duration("took", e.Took), originField(e.Origin), zap.Error(e.Err)}
	if refusesNothing {
		fields = append(fields, zap.String("what_to_do", mistakes.SilentAdvice()))
	}
	if e.Outcome == judge.Loaded && !e.Held {
		fields = append(fields, zap.Int("size", len(e.Rules.Text())), zap.Int("groups", e.Rules.GroupCount()),
			zap.Int("rules", e.Rules.RuleCount()), zap.String("version", e.Rules.Tag()))
	}
	c.Write(fields...)
}

// originField returns the log field for an origin. It is empty for a source that
// has one file for all origins.
func originField(o judge.Origin) zap.Field {
	if o == (judge.Origin{}) {
		return zap.Skip()
	}
	return zap.String("origin", Clip(o.String()))
}

// WithoutFile says what crawlers may fetch from a site without a robots.txt.
func WithoutFile(rules *judge.Rules) string {
	if rules.Published() {
		return "only the rules of the configuration are in force"
	}
	return "crawlers may fetch everything"
}

// ReadLevel returns the log level and the message for a read.
func ReadLevel(e *origins.FetchEvent) (zapcore.Level, string) {
	if e.Held {
		return zapcore.InfoLevel, "a new version of robots.txt is read again before it counts"
	}
	switch e.Outcome {
	case judge.Loaded:
		return zapcore.InfoLevel, "robots.txt loaded"
	case judge.Unchanged:
		if e.Again {
			return zapcore.InfoLevel, "robots.txt can be fetched again, and is unchanged"
		}
		return zapcore.DebugLevel, "robots.txt is unchanged"
	case judge.Missing:
		return zapcore.InfoLevel, "there is no robots.txt: " + WithoutFile(e.Rules)
	case judge.NotRobots:
		after := WithoutFile(e.Rules)
		if e.Rules.Outcome() == judge.Loaded {
			after = "the last good copy stays in force"
		}
		return zapcore.WarnLevel, "the answer is no robots.txt: " + after
	case judge.Forbidden, judge.Redirected:
		after := WithoutFile(e.Rules)
		if e.Rules.Outcome() == judge.Loaded {
			after = "the last good copy stays in force for 24 hours"
		}
		if e.Outcome == judge.Redirected {
			return zapcore.WarnLevel, "robots.txt redirects to another host: " + after
		}
		return zapcore.WarnLevel, "robots.txt is refused: " + after
	}
	switch {
	case e.Rules.Outcome() == judge.Loaded:
		return zapcore.ErrorLevel, "robots.txt can't be fetched: the last good copy stays in force"
	case e.Rules.DeniesAll():
		return zapcore.ErrorLevel, "robots.txt can't be fetched: crawlers may fetch nothing"
	default:
		return zapcore.ErrorLevel, "robots.txt can't be fetched and there is no good copy: " + WithoutFile(e.Rules)
	}
}

var (
	originCount = NewDesc("origins", "Origins with a robots.txt in memory, by source and state of the rules in force.", "source",
		"state")

	engines = NewLive(prometheus.GaugeValue, sendOrigins, originCount)
)

// engine is an engine and the kind of its source.
type engine struct {
	*enforce.Engine
	kind string
}

// ReportEngine reports the rules of an engine, with the kind of its source, until
// stop is called.
func ReportEngine(e *enforce.Engine, kind string) (stop func()) {
	return engines.Report(e, engine{e, kind})
}

// sendOrigins sends the metric of the engines.
func sendOrigins(engines []engine, send Sender) {
	type key struct{ kind, state string }
	counts := map[key]int{}
	for _, e := range engines {
		e.Origins().All(func(_ judge.Origin, r *judge.Rules) { counts[key{e.kind, r.Outcome().String()}]++ })
	}
	for k, n := range counts {
		send(originCount, float64(n), k.kind, k.state)
	}
}

var (
	evictions       = NewCounter("evictions_total", "Origins dropped because of max_origins or max_memory.", "limit")
	repeatedFetches = NewCounter("repeated_fetches_total",
		"Fetches for origins that had been dropped. If they are many, the limit is too low.")

	evicted, repeated perMinute
)

// The metrics begin with 0, so that their first increase counts.
func init() {
	evictions.WithLabelValues("max_memory")
	evictions.WithLabelValues("max_origins")
	repeatedFetches.WithLabelValues()
}

// CountEviction counts an origin that was dropped because of a limit, max_memory
// or max_origins.
func CountEviction(memory bool) {
	limit := "max_origins"
	if memory {
		limit = "max_memory"
	}
	evictions.WithLabelValues(limit).Inc()
	evicted.add(clock.Now())
}

// Evictions returns how many origins were dropped, and how many of those were read
// again, in the minute before the current one.
func Evictions(now time.Time) (dropped, readAgain int) {
	return evicted.before(now), repeated.before(now)
}

// perMinute counts events in the current minute and in the one before.
type perMinute struct {
	mu          sync.Mutex
	minute      int64
	count, last int
}

func (p *perMinute) add(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveTo(now)
	p.count++
}

func (p *perMinute) before(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveTo(now)
	return p.last
}

func (p *perMinute) moveTo(now time.Time) {
	switch minute := now.Unix() / 60; minute - p.minute {
	case 0:
	case 1:
		p.minute, p.last, p.count = minute, p.count, 0
	default:
		p.minute, p.last, p.count = minute, 0, 0
	}
}
