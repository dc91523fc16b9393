package caddymodule

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/headers"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler makes the site's robots.txt binding. It finds out by the User-Agent
// which crawler sent a request, answers 403 where robots.txt disallows the
// path to it and 429 where it comes sooner than Crawl-delay or Request-rate
// allow, or outside Visit-time, and adds X-Robots-Tag headers by file pattern.
//
// People are never blocked: rules bind crawlers, and a browser gets through
// whatever `User-agent: *` says. It is not access control: a crawler that
// sends a browser's User-Agent is taken for a browser.
//
// Each known crawler is judged by the group that its operator documents, so a
// request of Googlebot-Image falls to the group of Googlebot where it has none
// of its own.
//
// For requests of crawlers these placeholders are set, and the same fields
// are in the access log:
//
// Placeholder | Description
// ------------|------------
// `{http.robots.crawler}` | The crawler's name in the registry, or the product token that it sent
// `{http.robots.class}` | What it is: crawler, named, self-declared, user-triggered, offline, library; or person
// `{http.robots.purpose}` | What it crawls for, such as search or ai-training
// `{http.robots.group}` | The token of the group of the robots.txt that binds it
// `{http.robots.action}` | pass, deny or throttle
// `{http.robots.reason}` | Why: allowed, disallowed, crawl_delay, request_rate, visit_time, exempt, exempt_path, unbound, no_policy, unavailable; or person
// `{http.robots.rule}` | The rule that decided, as the file writes it
// `{http.robots.line}` | The line of the robots.txt that decided
type Handler struct {
	// Where the rules come from. Default: the site's own /robots.txt.
	Source *Source `json:"source,omitempty"`

	// How often the source is read again; at least 1s. A file is also read
	// when it changes. Default: 1m.
	Refresh caddy.Duration `json:"refresh,omitempty"`

	// What is in force while the source answers 5xx or not at all:
	// `last_good`, the last good copy, or no rules where there is none; or
	// `deny`, which denies crawlers everything, as RFC 9309 has it. Default:
	// `last_good`.
	OnError string `json:"on_error,omitempty"`

	// How many origins (scheme, host and port) the site's own robots.txt is
	// kept for. Beyond, the one not asked for the longest time goes.
	// Default: 1000.
	MaxOrigins int `json:"max_origins,omitempty"`

	// Serve /robots.txt from the source, so that what is enforced is what is
	// published. Not with the source `site`, which is published already.
	Publish bool `json:"publish,omitempty"`

	// `enforce`, or `monitor`, which decides, counts and logs, and lets
	// everything through. Default: `enforce`.
	Mode string `json:"mode,omitempty"`

	// How the file is read: `rfc9309`; `1994`, first match wins and no
	// wildcards; or `1996`, several values on a line. Default: `rfc9309`.
	Dialect string `json:"dialect,omitempty"`

	// Crawlers that are never bound, by their name in the registry or by
	// their token.
	Exempt []string `json:"exempt,omitempty"`

	// Paths that are never denied and never throttled, in robots.txt syntax.
	// `/robots.txt` always is one of them. Default: `/.well-known/*`.
	ExemptPaths []string `json:"exempt_paths,omitempty"`

	// Hold HTTP libraries (curl, python-requests, …) and requests without a
	// User-Agent to `User-agent: *`. Off by default, for API clients and
	// webhooks look like this. A group that names a library binds it always.
	HTTPClients bool `json:"http_clients,omitempty"`

	// Hold fetchers that act on a person's request (ChatGPT-User, link
	// previews, …) to `User-agent: *`. Default: true.
	UserTriggered *bool `json:"user_triggered,omitempty"`

	// Hold every crawler to everything, whatever its operator documents:
	// AdsBot-Google to `User-agent: *`, Googlebot to its Crawl-delay.
	Strict bool `json:"strict,omitempty"`

	// Crawlers that the built-in registry does not know, or knows otherwise.
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file with more of them, a JSON object a line, read again when it
	// changes; a broken one leaves the crawlers known before. Placeholders
	// that are known when the configuration is loaded are replaced.
	Registry string `json:"registry,omitempty"`

	// What else a back end takes for the same path.
	Paths *Paths `json:"paths,omitempty"`

	// How Crawl-delay, Request-rate and Visit-time are enforced.
	CrawlDelay *CrawlDelay `json:"crawl_delay,omitempty"`

	// One budget for all servers that share a Redis or Valkey. Without it
	// each process has its own.
	Fleet *Fleet `json:"fleet,omitempty"`

	// X-Robots-Tag headers by file pattern. All that match are sent.
	XRobotsTag []headers.Rule `json:"x_robots_tag,omitempty"`

	// Answer paths that a `Noindex:` line of robots.txt matches with
	// `X-Robots-Tag: noindex`. No crawler obeys these lines themselves any
	// longer. A crawler's own group speaks to that crawler, the group for all
	// to everybody else.
	NoindexLines bool `json:"noindex_lines,omitempty"`

	// Send the robots meta tags in the head of HTML documents as X-Robots-Tag
	// too, for readers that look at headers only. The head is looked at in the
	// first 64 KB, through gzip and zstd; the body is not changed.
	MetaRobots bool `json:"meta_robots,omitempty"`

	// Send the Content-Signal and Content-Usage lines of the crawler's group
	// as header fields, and License lines as `Link: <…>; rel="license"`.
	Signals bool `json:"signals,omitempty"`

	running atomic.Pointer[running]
	source  enforce.Source
	limiter throttle.Limiter
	copies  *enforce.Copies
	monitor bool
	tags    *headers.Rules
	fleet   *pooledFleet // nil without one
	log     *zap.Logger
	cleanup []func() error
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots",
		New: func() caddy.Module { return new(Handler) },
	}
}

// ServeHTTP decides on the request and answers it, or passes it on.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	ctx := r.Context()
	if isOwnFetch(r) {
		caddyhttp.SetVar(ctx, caddyhttp.LogSkipVar, true)
		return next.ServeHTTP(w, r)
	}
	h.fleet.connect()
	target := originalTarget(r)
	if h.Publish && isRobotsTxt(target) {
		return h.publish(w, r)
	}
	x := exchanges.Get().(*exchange)
	defer exchanges.Put(x)
	x.Request = enforce.Request{
		Target:     target,
		UserAgents: r.Header["User-Agent"],
		Origin:     enforce.NewOrigin(r.TLS != nil, r.Host),
		Time:       time.Now(),
	}
	if vars, ok := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		x.Client, _ = vars[caddyhttp.ClientIPVarKey].(string)
		_, x.Paced = vars[recordVar] // by another robots handler on the way
	}
	d := &x.Decision
	now := h.running.Load()
	now.Decide(ctx, &x.Request, d)
	if d.Reason == enforce.Person {
		setPerson(ctx)
	} else if err := h.crawler(w, r, now, d); err != nil || !h.passes(d) {
		return err
	}
	return h.next(w, r, target, d, next)
}

// exchange is what the engine is asked and what it answers.
type exchange struct {
	enforce.Request
	enforce.Decision
}

// exchanges are reused, so that a request allocates none.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// passes reports whether a request goes on to the next handler.
func (h *Handler) passes(d *enforce.Decision) bool {
	return d.Action == enforce.Pass || h.monitor
}

// crawler makes a decision about a crawler known, and answers where it is not
// let through.
func (h *Handler) crawler(w http.ResponseWriter, r *http.Request, now *running, d *enforce.Decision) error {
	newRecord(r.Context(), d)
	now.outcomes.count(d, r)
	if !h.passes(d) {
		return h.deny(w, r, d)
	}
	return nil
}

// next passes a request on, with the headers that its path asks for.
func (h *Handler) next(w http.ResponseWriter, r *http.Request, target string, d *enforce.Decision, next caddyhttp.Handler) error {
	match, spoken := h.tags.Match(target), h.spoken(target, d)
	if match.Empty() && spoken.empty() && !h.tags.NeedsResponse() && !h.MetaRobots {
		return next.ServeHTTP(w, r)
	}
	t := h.newTagWriter(w, r, target, match, spoken, d)
	if err := next.ServeHTTP(t, r); err != nil {
		return err
	}
	return t.finish()
}

// originalTarget returns the request target as the client sent it, before any
// rewrite.
func originalTarget(r *http.Request) string {
	if or, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && or.RequestURI != "" {
		return or.RequestURI
	}
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.RequestURI()
}

// Interface guards
var (
	_ caddy.Module                = (*Handler)(nil)
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
