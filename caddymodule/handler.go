package caddymodule

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler enforces the site's robots.txt. It identifies the crawler that sent a
// request by its User-Agent. It answers 403 if robots.txt disallows the path to
// that crawler, and 429 if the request comes sooner than Crawl-delay or
// Request-rate allow, outside Visit-time, or over a `limit`. It also adds X-Robots-Tag headers
// to responses.
//
// Rules apply to crawlers only. A request with a browser's User-Agent is a
// person's and is not refused, whatever the group for `*` says. There are three
// exceptions: the User-Agent has a further word that a group of robots.txt
// names, the signature of a crawler (see `verify`) is valid, or a step such as `challenge`
// refuses it. The handler is not access control: a crawler that sends a
// browser's User-Agent is treated as a person.
//
// A request meets one robots handler: the first that it reaches decides, and a later
// one only adds its X-Robots-Tag headers. Two handlers that surely meet, such as one
// of a site and one inside its `handle /api/*`, are an error.
//
// A known crawler gets the group that the crawler's operator documents. For
// example, the group of Googlebot applies to Googlebot-Image if robots.txt has
// no group for Googlebot-Image.
//
// The handler sets these placeholders. For requests of crawlers and strangers, all
// of them except `trap` are also in the access log, in the field `robots`:
//
// Placeholder | Description
// ------------|------------
// `{http.robots.crawler}` | The crawler's name in the registry, or the product token that it sent, such as `GPTBot`
// `{http.robots.class}` | Its class: `crawler`, `named`, `self-declared`, `user-triggered`, `scraper`, `webhook`, `probe`, `program`, `library` or `person`
// `{http.robots.evidence}` | How it was identified: by a `token`, by its own `declaration`, or only by the `form` of its User-Agent
// `{http.robots.purpose}` | Its main purpose, such as `ai-training`
// `{http.robots.verified}` | The result of `verify`: `verified`, `impostor`, `unverified`, or `none`
// `{http.robots.verify}` | What verified the claim: `list`, `dns` or `signature`; or why it is unverified, such as `lookup_pending`
// `{http.robots.action}` | `pass`, `deny`, `throttle` or `challenge`; in monitor mode `would_deny`, `would_throttle` or `would_challenge`
// `{http.robots.reason}` | Why, such as `disallowed` or `crawl_delay`
// `{http.robots.group}` | The product token of the group (`User-agent` lines and their rules) that applies
// `{http.robots.rule}` | The line that decided, such as `Disallow: /private/` or `limit /archive/*: all 30/1m`
// `{http.robots.line}` | Its number, in robots.txt for the layer `file`, otherwise in the configuration; or 0
// `{http.robots.layer}` | Where the line is: `file` (the site's robots.txt), `policy`, `hidden`, `limit`, `shed` or `challenge`
// `{http.robots.version}` | The entity tag of the robots.txt that was applied or sent
// `{http.robots.grace_ends}` | When `grace` ends at the latest, such as `2026-11-22T15:04:05Z`
// `{http.robots.reference}` | The reference on the page of `challenge` that the client got
// `{http.robots.trap}` | A trap URL for this client's address, if a trap is in force
type Handler struct {
	config.Settings

	cleanups
	inForce
	meetings
	server   atomic.Pointer[serverSites] // of the server of the latest request
	app      *App
	source   origins.Source
	limiter  throttle.Limiter
	steps    steps
	bodies   [bodyParts]atomic.Int32 // that are read, by client
	sourceID uint64                  // from Source.id
	fields   response.Fields         // of the responses
	answers  customAnswers           // by reason
	registry registry.Registry
	log      *zap.Logger
}

// inForce has what a handler enforces now.
type inForce struct {
	running  atomic.Pointer[running]
	changing sync.Mutex  // held while running is replaced
	changed  atomic.Bool // the source file may have changed since it is watched
}

// meetings say which requests a handler has met.
type meetings struct {
	decides atomic.Bool // it has decided on a request
	late    atomic.Bool // a request came on which another handler had decided
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.robots", New: func() caddy.Module { return new(Handler) }}
}

// ServeHTTP decides on a request in six steps, and answers it or passes it on. Each
// step uses what those before it have found. Only pace changes a decision, and nothing
// does after it is recorded.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if isSubrequest(r) {
		return h.serveSubrequest(w, r, next)
	}
	asked := false
	for _, s := range h.steps.receivers {
		in := step.Incoming{Writer: w, Request: r, Next: next, Asked: asked}
		if !s.Receive(&in) {
			return nil
		}
		w, r, next, asked = in.Writer, in.Request, in.Next, in.Asked
	}
	x := exchanges.Get().(*exchange)
	defer x.release()
	earlier := h.open(x, r)
	x.asked = asked
	if x.off {
		return next.ServeHTTP(w, r)
	}
	h.note(earlier)
	if earlier != nil { // another robots handler has decided
		return h.fields.Serve(w, r, x.Request.Target, &judge.Decision{Subject: judge.Subject{Agent: earlier.Agent}}, next)
	}
	rules := x.resolve()
	client := x.identify(rules)
	d := x.judge(client)
	x.pace(d, w)
	x.record(d)
	return x.respond(d, w, next)
}

// note notes whether the handler decides on a request. It writes once, because all
// requests share what it writes.
func (h *Handler) note(earlier *record) {
	noted := &h.decides
	if earlier != nil {
		noted = &h.late
	}
	if !noted.Load() {
		noted.Store(true)
	}
}

// serveSubrequest answers a request of the server itself.
func (h *Handler) serveSubrequest(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	siteread.NotePass(r, h)
	if rules := h.publishedFor(r); rules != nil {
		return h.publish(w, r, rules)
	}
	return next.ServeHTTP(w, r)
}

// resolve finds the rules in force for the request. It is the only step that may wait
// for a robots.txt.
func (x *exchange) resolve() *judge.Rules {
	return x.running.Resolve(x.HTTP.Context(), &x.Request)
}

// identify finds out who sent the request: by its User-Agent, its address and its
// signature.
func (x *exchange) identify(rules *judge.Rules) *judge.Client {
	x.running.Identify(&x.Client, &x.Request, rules)
	return &x.Client
}

// judge decides by the path rules.
func (x *exchange) judge(c *judge.Client) *judge.Decision {
	d := &x.Decision
	c.Judge(d)
	return d
}

// pace changes a decision to let the request through, if budgets, limits or a step do not
// allow that now.
func (x *exchange) pace(d *judge.Decision, w http.ResponseWriter) {
	x.paced, x.w = true, w
	x.handler.steps.decide(&x.Exchange)
	if x.handler.steps.areBusy() {
		x.set(busyVar, true)
	}
	if x.Stranger {
		x.set(strangerVar, true)
	}
}

// respond refuses the request, or answers it, or passes it on.
func (x *exchange) respond(d *judge.Decision, w http.ResponseWriter, next caddyhttp.Handler) error {
	h, r := x.handler, x.HTTP
	answerer := h.steps.answererOf(&x.Exchange)
	if answerer != nil || x.unread != nil || d.Action != judge.Pass && !d.Monitored {
		response.ForbidStoring(w) // a cache in front of the server would give the answer to people
	}
	switch {
	case answerer != nil:
		return answerer.Answer(&x.Exchange, w)
	case x.unread != nil:
		return x.unread.send(w, r)
	case d.Action != judge.Pass && !d.Monitored:
		return x.refuse(w)
	case d.Reason != judge.ExemptPath || !judge.IsRobotsTxt(x.Request.Target) || x.Request.Method != http.MethodGet,
		x.asked:
		return x.passOn(0, d, w, next)
	}
	const accepted = "Accept-Encoding"
	codings := r.Header[accepted]
	if !h.publishes(&x.Request, d) {
		delete(r.Header, accepted) // so that the writer sees which file is sent
	}
	read := response.NewReadWriter(w)
	err := x.passOn(0, d, read, next)
	if codings != nil {
		r.Header[accepted] = codings
	}
	if err == nil && read.Read(r) {
		x.running.RobotsRead(&x.Request, d.Rules, read.Sent())
		x.recordSent(read.Sent())
	}
	return err
}

// Withdraw implements step.Core.
func (x *exchange) Withdraw(refusal *judge.Decision) {
	x.running.GiveBack(&x.Request, &x.Decision, x.Uses)
	x.Decision = *refusal
	x.recorded.Decision = *refusal
}

// Refuse implements step.Core.
func (x *exchange) Refuse(w http.ResponseWriter) error {
	response.ForbidStoring(w) // a cache in front of the server would give the answer to people
	return x.refuse(w)
}

// passOn lets the steps from one on, and then the next handler, answer a request.
func (x *exchange) passOn(from int, d *judge.Decision, w http.ResponseWriter, next caddyhttp.Handler) error {
	for i, s := range x.handler.steps.servers[from:] {
		if s.Serves(&x.Exchange) {
			return s.Serve(&x.Exchange, w, func(w http.ResponseWriter) error { return x.passOn(from+i+1, d, w, next) })
		}
	}
	return x.serve(d, w, next)
}

// serve answers a request that is let through.
func (x *exchange) serve(d *judge.Decision, w http.ResponseWriter, next caddyhttp.Handler) error {
	h := x.handler
	for _, s := range h.steps.responders {
		w = s.Respond(&x.Exchange, w)
	}
	if h.publishes(&x.Request, d) && !x.asked {
		return h.publish(w, x.HTTP, d.Rules)
	}
	x.Err = h.fields.Serve(w, x.HTTP, x.Request.Target, d, next)
	x.Returned = true
	return x.Err
}

// isSubrequest reports whether the server itself made a request: to read a
// robots.txt, or in a handler such as templates with httpInclude. Requests of
// handlers have no local address. (http.ServerContextKey is no sign: requests of
// HTTP/3 lack it too.)
func isSubrequest(r *http.Request) bool {
	return r.Context().Value(http.LocalAddrContextKey) == nil || siteread.IsRead(r)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
