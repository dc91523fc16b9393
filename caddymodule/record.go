package caddymodule

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// placeholderPrefix begins the names of this module's placeholders.
const placeholderPrefix = "http.robots."

// recordVar is the name of the request variable that holds the record.
const recordVar = "caddy_robots.record"

// rulesVar is the name of the request variable that holds the rules in force, where a
// matcher needs it.
const rulesVar = "caddy_robots.rules"

// record is a decision for the rest of Caddy: placeholders, access-log fields,
// the matcher, metrics and log lines are made from it. It lives as long as the
// request. A request has one: a later robots handler does not decide again.
type record struct {
	judge.Decision
	visitor   *visitor // the client that trap URLs are made for; nil without a trap
	reference string   // of the check that the client got; "" without
	sent      string   // the tag of the robots.txt that the client got; "" if that is not known
}

// person is the record of all requests of people.
var person = new(record)

// record publishes a decision to the handlers that follow, the access log, the
// metrics and the log. One that federates is counted only when the answer is known. For
// a person's request record allocates nothing.
func (x *exchange) record(d *judge.Decision) {
	h, ctx := x.handler, x.HTTP.Context()
	if h.app.rulesWanted.Load() {
		x.set(rulesVar, d.Rules)
	}
	switch {
	case x.MayChange: // counted at the end
	case h.app.countsAtEnd.Load() && x.vars != nil && (d.Action == judge.Pass || d.Monitored):
		x.countsAtEnd = true
		x.set(step.UncountVar, x)
	default:
		x.count(d)
	}
	rec, v := person, h.visitor(x)
	if d.Reason != judge.Person {
		rec = &record{Decision: *d, visitor: v, reference: x.arrival.Reference()}
		x.recorded = rec
	}
	if h.app.traced.Load() {
		rec.trace(ctx)
	}
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		switch {
		case rec != person:
			repl.Map(rec.placeholder)
		case v != nil:
			repl.Map(v.placeholder)
		default:
			repl.Map(personPlaceholder)
		}
	}
	if rec != person && (x.server == nil || x.server.Logs != nil) {
		if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
			extra.Add(zap.Object("robots", rec))
		}
	}
	x.set(recordVar, rec)
}

// rerecord changes what record has published to a decision on the same client. It is
// not counted.
func (x *exchange) rerecord(d *judge.Decision) {
	x.recorded.Decision = *d
	if x.handler.app.traced.Load() {
		x.recorded.trace(x.HTTP.Context())
	}
}

// recordSent adds to what record has published which robots.txt the client got, by its
// hash: another one than that in force, if the file has changed or was not fetched yet.
// Without a hash, as after 304, it is the one in force now.
func (x *exchange) recordSent(hash uint64) {
	if x.recorded == nil {
		return
	}
	x.recorded.sent = judge.TagOf(hash)
	if rules := x.running.Origins().RulesOf(x.Request.Origin); hash == 0 && rules != nil {
		x.recorded.sent = rules.Tag()
	}
	if x.handler.app.traced.Load() {
		x.recorded.trace(x.HTTP.Context())
	}
}

// count counts a decision for the admin API and the dashboard and, unless it is about a
// person, for the metrics, and logs it.
func (x *exchange) count(d *judge.Decision) {
	if d.Reason == judge.Person {
		x.site.CountPerson(x.number)
		return
	}
	x.running.decisions.Count(&x.Request, d, x.HTTP)
	q := &x.Request
	x.site.Count(d, &counters.Request{
		Time: q.Time, Origin: q.Origin, Source: x.handler.sourceID, Method: q.Method, Target: q.Target, Client: q.Client,
		UserAgents: q.UserAgents,
	})
}

// trace adds the decision to the current span, as attributes with the names of
// the placeholders.
func (rec *record) trace(ctx context.Context) {
	metrics.SetAttributes(ctx, placeholders, func(name string) any { return placeholderValues[name](rec) })
}

// set sets a variable of the request.
func (x *exchange) set(name string, value any) {
	if x.vars != nil {
		x.vars[name] = value
	}
}

func personPlaceholder(key string) (any, bool) { return person.placeholder(key) }

// recordOf returns the record of a request, nil if no robots handler has decided
// on it.
func recordOf(r *http.Request) *record {
	rec, _ := caddyhttp.GetVar(r.Context(), recordVar).(*record)
	return rec
}

// placeholders are the names of the placeholders but the trap's, without their prefix, in
// the order of the access log.
var placeholders = []string{"crawler", "class", "evidence", "purpose", "group", "action", "reason", "rule", "layer", "line", "version",
	gracePlaceholder, "verified", verifyPlaceholder, referencePlaceholder}

// Names of placeholders: rarePlaceholders are left out of the access log if they are
// empty, the trap always.
const (
	gracePlaceholder  = "grace_ends"
	verifyPlaceholder = "verify"
	trapPlaceholder   = "trap"

	referencePlaceholder = "reference"
)

var rarePlaceholders = []string{gracePlaceholder, verifyPlaceholder, referencePlaceholder}

// placeholderValues has the value of each placeholder.
var placeholderValues = map[string]func(*record) any{
	"crawler":         func(rec *record) any { return rec.Name() },
	"class":           func(rec *record) any { return verdict.Class(&rec.Decision) },
	"evidence":        func(rec *record) any { return rec.Agent.Reason.Strength().String() },
	"purpose":         func(rec *record) any { return verdict.Purpose(&rec.Decision) },
	"group":           func(rec *record) any { return rec.GroupToken() },
	"action":          func(rec *record) any { return verdict.ActionName(rec.Action, rec.Monitored) },
	"reason":          func(rec *record) any { return rec.Reason.String() },
	"rule":            func(rec *record) any { return rec.RuleText() },
	"layer":           func(rec *record) any { return rec.Layer.String() },
	"line":            func(rec *record) any { return rec.Line },
	"version":         func(rec *record) any { return cmp.Or(rec.sent, rec.VersionTag()) },
	"verified":        func(rec *record) any { return rec.Claim.State.String() },
	verifyPlaceholder: func(rec *record) any { return verdict.Verification(&rec.Decision) },
	gracePlaceholder:  func(rec *record) any { return verdict.GraceEnds(&rec.Decision) },
	trapPlaceholder:   func(rec *record) any { return rec.visitor.trap() },

	referencePlaceholder: func(rec *record) any { return rec.reference },
}

// placeholder returns the value of a placeholder.
func (rec *record) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	value := placeholderValues[name]
	if !ok || value == nil {
		return nil, false
	}
	return value(rec), true
}

// MarshalLogObject writes the access-log fields. They have the names of the
// placeholders.
func (rec *record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for _, name := range placeholders {
		switch v := placeholderValues[name](rec).(type) {
		case string:
			if v != "" || !slices.Contains(rarePlaceholders, name) {
				enc.AddString(name, v)
			}
		case int:
			enc.AddInt(name, v)
		}
	}
	return nil
}

// isPerson reports whether the request is a person's.
func (rec *record) isPerson() bool { return rec.Agent.Class == crawler.Person }
