package caddymodule

import (
	"context"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// placeholderPrefix begins the names of this module's placeholders.
const placeholderPrefix = "http.robots."

// recordVar is the name of the request variable that holds the record.
const recordVar = "caddy_robots.record"

// record is a decision about a crawler as the rest of Caddy sees it:
// placeholders and access-log fields. It lives as long as the request.
type record struct {
	enforce.Decision
}

// newRecord makes a decision known to the handlers that follow, to the access
// log and to the matcher.
func newRecord(ctx context.Context, d *enforce.Decision) {
	rec := &record{*d}
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(rec.placeholder)
	}
	if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.Object("robots", rec))
	}
	caddyhttp.SetVar(ctx, recordVar, rec)
}

// setPerson sets the placeholders for a request that robots.txt does not
// bind. It allocates nothing.
func setPerson(ctx context.Context) {
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(personPlaceholder)
	}
}

var person = new(record)

func personPlaceholder(key string) (any, bool) { return person.placeholder(key) }

// placeholder is the value of a placeholder.
func (rec *record) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, placeholderPrefix)
	if !ok {
		return nil, false
	}
	switch name {
	case "crawler":
		return rec.Name(), true
	case "class":
		return rec.Agent.Class.String(), true
	case "purpose":
		return rec.purpose(), true
	case "group":
		return rec.GroupToken(), true
	case "action":
		return rec.Action.String(), true
	case "reason":
		return rec.Reason.String(), true
	case "rule":
		return rec.RuleText(), true
	case "line":
		return rec.Line, true
	}
	return nil, false
}

// MarshalLogObject writes the access-log fields. They are named as the
// placeholders are.
func (rec *record) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	enc.AddString("crawler", rec.Name())
	enc.AddString("class", rec.Agent.Class.String())
	enc.AddString("purpose", rec.purpose())
	enc.AddString("group", rec.GroupToken())
	enc.AddString("action", rec.Action.String())
	enc.AddString("reason", rec.Reason.String())
	enc.AddString("rule", rec.RuleText())
	enc.AddInt("line", rec.Line)
	return nil
}

func (rec *record) purpose() string {
	if rec.Agent.Crawler != nil {
		return string(rec.Agent.Crawler.Purpose)
	}
	return ""
}
