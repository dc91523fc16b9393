package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/suspicion"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// resolve finds the rules in force for the request. It is the only step that may wait
// for a robots.txt.
func (x *exchange) resolve() *enforce.Rules {
	return x.running.Resolve(x.r.Context(), &x.request)
}

// identify finds out who sent the request: by its User-Agent, its address and its
// signature or, for a browser's User-Agent, by what the client has done.
func (x *exchange) identify(rules *enforce.Rules) *enforce.Client {
	c := &x.client
	x.running.Identify(c, &x.request, rules)
	if s := x.handler.suspicion; s != nil && c.IsPerson() {
		c.Suspect = s.Observe(&x.visit, &x.request, x.r, rules, !x.running.mode.Monitor)
	}
	return c
}

// judge decides by the path rules.
func (x *exchange) judge(c *enforce.Client) *enforce.Decision {
	c.Judge(&x.decision)
	return &x.decision
}

// pace changes a decision to let the request through, if budgets, limits or the load
// of the server do not allow that now. It may hold the request until they do.
func (x *exchange) pace(d *enforce.Decision) {
	x.paced = true
	x.running.Pace(x.r.Context(), &x.request, d)
	if x.handler.shedLoad != nil {
		x.enter(d)
	}
}

// respond refuses the request, or answers it, or passes it on.
func (x *exchange) respond(d *enforce.Decision, w http.ResponseWriter, next caddyhttp.Handler) error {
	h, r := x.handler, x.r
	switch {
	case x.visit.Pressed:
		return suspicion.SendCookie(w, &x.request)
	case d.Action != enforce.Pass && !d.Monitored && d.Reason == enforce.Suspected:
		return h.suspicion.Refuse(w, &x.request, r)
	case d.Action != enforce.Pass && !d.Monitored:
		return h.refuse(w, r, d)
	case d.Reason != enforce.ExemptPath || !enforce.IsRobotsTxt(x.request.Target) || x.request.Method != http.MethodGet || forwarded.IsAnswer(w):
		return x.serve(d, w, next)
	}
	read := response.NewReadWriter(w)
	err := x.serve(d, read, next)
	if err == nil && read.Read(r) {
		x.running.RobotsRead(&x.request, d.Rules, read.Sent())
	}
	return err
}

// serve answers a request that is let through.
func (x *exchange) serve(d *enforce.Decision, w http.ResponseWriter, next caddyhttp.Handler) error {
	h := x.handler
	if x.load != nil {
		w = x.head.Watch(w, x)
	}
	if h.publishes(&x.request, d) && !forwarded.IsAnswer(w) {
		return h.publish(w, x.r, d.Rules)
	}
	if h.usage != nil && !d.Monitored {
		w.Header()["Content-Usage"] = h.usage
	}
	return h.fields.Serve(w, x.r, x.request.Target, d, next)
}
