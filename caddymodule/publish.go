package caddymodule

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

var (
	errNoSource = errors.New("the source of robots.txt can't be fetched")
	errNoRobots = errors.New("the source has no robots.txt")
)

// publishes reports whether the handler itself answers a request for
// /robots.txt: if publish is on, or if a step adds lines to the file.
func (h *Handler) publishes(q *judge.Request, d *judge.Decision) bool {
	return !d.Monitored && (config.On(h.Publish) || d.Rules.Published()) && judge.IsRobotsTxt(q.Target) &&
		(q.Method == http.MethodGet || q.Method == http.MethodHead)
}

// publishedFor returns the rules that the handler publishes at the host of a read
// that was redirected from another host; nil if r is no such read, or the handler
// publishes none there.
func (h *Handler) publishedFor(r *http.Request) *judge.Rules {
	if !siteread.IsForeign(r) || !h.addsLines() && !config.On(h.Publish) || !judge.IsRobotsTxt(originalTarget(r)) {
		return nil
	}
	x := exchanges.Get().(*exchange)
	defer x.release()
	if h.open(x, r); x.off {
		return nil
	}
	q, d := &x.Request, &x.Decision
	if !h.app.links.Follow(r, h, q.Origin) {
		return nil
	}
	origins := x.running.Origins()
	origins.Peek(q) // begins the fetch for which Wait waits
	d.Rules = cmp.Or(origins.Wait(r.Context(), q), origins.Pending())
	d.Monitored = q.Mode.MonitorsAll()
	if !h.publishes(q, d) || !h.app.links.Follow(r, h, q.Origin) { // that fetch may have led back to the host that reads
		return nil
	}
	return d.Rules
}

// unavailable is the answer while the site's own rules are not known: a file
// without them would open what they close. retryAfter is in seconds.
func unavailable(w http.ResponseWriter, retryAfter string) error {
	response.ForbidStoring(w)
	w.Header().Set("Retry-After", retryAfter)
	return caddyhttp.Error(http.StatusServiceUnavailable, errNoSource)
}

// publish answers a request for /robots.txt with the file that is enforced.
func (h *Handler) publish(w http.ResponseWriter, r *http.Request, rules *judge.Rules) error {
	header := w.Header()
	switch rules.Outcome() {
	case judge.Loaded:
	case judge.Missing, judge.NotRobots, judge.Forbidden, judge.Redirected:
		if !rules.Published() {
			return caddyhttp.Error(http.StatusNotFound, errNoRobots)
		} // the file consists of the added lines alone
	case judge.Pending:
		return unavailable(w, "5")
	default:
		return unavailable(w, "60")
	}
	header.Set("Content-Type", textPlain)
	header.Set("Etag", `"`+rules.Tag()+`"`)
	content := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(rules.Text()))
		return nil
	})
	if server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok && server != nil {
		if encode := routes.First(server.Routes, r.Clone(r.Context()), isEncode); encode != nil {
			return encode.ServeHTTP(w, r, content)
		}
	}
	return content(w, r)
}

// isEncode reports whether a handler is one of the directive encode. It stands after
// robots, so it does not see what robots answers itself.
func isEncode(handler caddyhttp.MiddlewareHandler) bool {
	return caddy.GetModuleName(handler) == "encode"
}

// addsLines reports whether a step adds lines to robots.txt that clients must get.
func (h *Handler) addsLines() bool {
	editor := stepThat[step.Editor](&h.steps)
	return editor != nil && editor.Publishes()
}
