package caddymodule

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
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
	more []func(name string) (value string, ok bool) // the placeholders of steps; nil if all are empty
	sent string                                      // the tag of the robots.txt that the client got; "" if that is not known
}

// person is the record of all requests of people.
var person = new(record)

// record publishes a decision to the handlers that follow and the access log. It is counted
// when the request ends: a step may withdraw it while the request is answered. For a
// person's request record allocates nothing.
func (x *exchange) record(d *judge.Decision) {
	h, ctx := x.handler, x.HTTP.Context()
	if h.app.rulesWanted.Load() {
		x.set(rulesVar, d.Rules)
	}
	x.counts = true
	rec, more := person, h.steps.record(&x.Exchange)
	if d.Reason != judge.Person {
		rec = &record{Decision: *d, more: more}
		x.recorded = rec
	}
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		switch {
		case rec != person:
			repl.Map(rec.placeholder)
		case more != nil:
			repl.Map((&record{more: more}).placeholder)
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
}

// count counts a decision for the admin API and the dashboard and, unless it is about a
// person, for the metrics, and logs it. The record gets the name under which the crawler is
// counted.
func (x *exchange) count() {
	if x.recorded == nil {
		x.site.CountPerson(x.number)
		return
	}
	d := &x.recorded.Decision
	q := &x.Request
	x.site.Count(d, &counters.Request{
		Time: q.Time, Origin: q.Origin, Source: x.handler.sourceID, Method: q.Method, Target: q.Target, Client: q.Client,
		UserAgents: q.UserAgents, Log: x.running.log,
	})
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

// placeholders are the names of the placeholders of the core, without their prefix, in the
// order of the access log.
var placeholders = []string{"crawler", "class", "evidence", "purpose", "group", "action", "reason", "rule", "layer", "line", "version",
	gracePlaceholder, "verified", verifyPlaceholder}

const (
	gracePlaceholder  = "grace_ends"
	verifyPlaceholder = "verify"
)

// isRare reports whether a placeholder is left out of the access log if it is empty, as all
// those of steps are.
func isRare(name string) bool {
	return name == gracePlaceholder || name == verifyPlaceholder || placeholderValues[name] == nil
}

// stepPlaceholders are the placeholders of all steps.
var stepPlaceholders = sync.OnceValue(func() (list []string) {
	for _, name := range step.Names(false) {
		list = append(list, step.New(name).Info().Placeholders...)
	}
	return list
})

// fields are the placeholders in the access log, in their order.
var fields = sync.OnceValue(func() []string {
	list := placeholders
	for _, name := range step.Names(false) {
		list = append(list[:len(list):len(list)], step.New(name).Info().Logged...)
	}
	return list
})

// placeholderValues has the value of each placeholder.
var placeholderValues = map[string]func(*record) any{
	"crawler":         func(rec *record) any { return rec.Name() },
	"class":           func(rec *record) any { return verdict.Class(&rec.Decision) },
	"evidence":        func(rec *record) any { return string(rec.Agent.Reason.Strength()) },
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
}

// placeholder returns the value of a placeholder.
func (rec *record) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	if !ok || placeholderValues[name] == nil && !slices.Contains(stepPlaceholders(), name) {
		return nil, false
	}
	return rec.value(name), true
}

// value returns the value of a placeholder without its prefix.
func (rec *record) value(name string) any {
	if value := placeholderValues[name]; value != nil {
		return value(rec)
	}
	for _, more := range rec.more {
		if value, ok := more(name); ok {
			return value
		}
	}
	return ""
}

// MarshalLogObject writes the access-log fields. They have the names of the
// placeholders.
func (rec *record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for _, name := range fields() {
		switch v := rec.value(name).(type) {
		case string:
			if v != "" || !isRare(name) {
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
