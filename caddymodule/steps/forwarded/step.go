// Package forwarded judges the requests about which a proxy asks whether it may let them
// through: in the authentication sub-requests of nginx, Traefik and Caddy's forward_auth,
// header fields describe the client's request.
package forwarded

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func init() {
	caddy.RegisterModule(new(ForwardedRequest))
}

// ForwardedRequest makes the handler judge the request that another proxy asks about in an
// authentication sub-request. `x_forwarded`: X-Forwarded-Method, -Proto, -Host and -Uri
// describe that request. `x_original`: X-Original-Method and X-Original-URL do. Only
// sub-requests of Caddy's `trusted_proxies` with each of these fields once are judged; all
// others get 403, in monitor mode 200. The answer is 200, or the refusal: with
// `x_original` always 403, with its own status in X-Robots-Status. It needs a line
// `source`, and excludes `shed`, `challenge`, `meta_robots`, `at_once`, and `x_robots_tag`
// by type or status. Default: off.
//
//	forwarded_request x_original
//	source url https://example.com/robots.txt
type ForwardedRequest struct {
	// The family of fields: x_forwarded or x_original.
	Family string `json:"family,omitempty"`

	site   step.Site
	reader *reader
}

// CaddyModule returns the Caddy module information.
func (*ForwardedRequest) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.forwarded_request", New: func() caddy.Module { return new(ForwardedRequest) }}
}

// Info implements step.Step.
func (*ForwardedRequest) Info() step.Info {
	return step.Info{Asked: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	forwarded_request off | x_forwarded | x_original
func (f *ForwardedRequest) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	args := d.RemainingArgs()
	if len(args) != 1 || d.NextBlock(0) {
		return d.Errf("forwarded_request takes one value, not %d", len(args))
	}
	f.Family = args[0]
	if err := f.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// check returns an error for a family that there is not.
func (f *ForwardedRequest) check() error {
	if families[f.Family] == nil {
		return fmt.Errorf("forwarded_request %q: want off or %s or %s", f.Family, byForwarded, byOriginal)
	}
	return nil
}

// Join implements step.Step.
func (f *ForwardedRequest) Join(site step.Site) error {
	if err := f.check(); err != nil {
		return err
	}
	for answer, to := range site.Redirects {
		if f.Family == byOriginal {
			return fmt.Errorf("forwarded_request x_original: answer %s can't redirect, because nginx gets a 403: "+
				"redirect in the configuration of nginx", answer)
		}
		if u, err := url.Parse(to); err == nil && u.Host == "" && !strings.Contains(to, "{") {
			return fmt.Errorf("forwarded_request: answer %s redir %s: "+
				"write a full URL, because Traefik adds the address of this server to a path", answer, to)
		}
	}
	f.site, f.reader = site, newReader(f.Family, site.Log)
	return nil
}

// Receive implements step.Receiver: the request that a sub-request asks about takes its
// place, and in place of the next handler one that allows it: no sub-request reaches next. A
// client's own GET of the robots.txt that the handler publishes does. All other requests are
// answered here.
func (f *ForwardedRequest) Receive(in *step.Incoming) bool {
	ownFile := f.reader.isDirect(in.Request) && judge.IsRobotsTxt(target(in.Request))
	if ownFile && f.site.Publishes() {
		return true
	}
	if answer, request := f.reader.read(in.Writer, in.Request, clock.Now()); request != nil {
		*in = step.Incoming{Writer: answer, Request: request, Next: caddyhttp.HandlerFunc(allowed), Asked: true}
		return true
	}
	switch {
	case ownFile:
		in.Writer.Header().Set("Retry-After", "60")
		refuse(in.Writer, http.StatusServiceUnavailable) // any other status would say that there are no rules
	case f.site.Monitors():
		allow(in.Writer, "")
	default:
		refuse(in.Writer, http.StatusForbidden)
	}
	return false
}

// target returns the request target that the client sent, whatever earlier handlers
// rewrote it to.
func target(r *http.Request) string {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.RequestURI != "" {
		return original.RequestURI
	}
	return r.RequestURI
}

// allowed answers a sub-request about a request that is let through.
func allowed(w http.ResponseWriter, r *http.Request) error {
	name := ""
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		if class, _ := repl.GetString("http.robots.class"); class != "person" {
			name, _ = repl.GetString("http.robots.crawler")
		}
	}
	allow(w, name)
	return nil
}

// Interface guards
var (
	_ step.Step     = (*ForwardedRequest)(nil)
	_ step.Receiver = (*ForwardedRequest)(nil)
)
