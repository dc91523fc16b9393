// Package federation knows the requests with which servers of the Fediverse fetch each
// other's actors and posts (ActivityPub), and lets only such documents through. It checks
// no signature: whose key it is only the site's own software knows.
package federation

import (
	"context"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

func init() {
	caddy.RegisterModule(new(Federation))
}

// Reason is given to requests that pass.
var Reason = judge.RegisterReason(judge.ReasonInfo{
	Name: "federation", Meaning: "a signed request of a Fediverse server got an ActivityPub document, and only `*` applies to it",
	NoCrawling: true,
})

// Federation lets signed requests of Fediverse servers pass that the group for `*`
// disallows, if the answer is an ActivityPub document: 60 a minute of a client
// address. Crawlers of the registry, and those that a group names, are held. Default: on.
//
//	federation off
type Federation struct{ budgets *throttle.Memory }

// CaddyModule returns the Caddy module information.
func (*Federation) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.federation", New: func() caddy.Module { return new(Federation) }}
}

// Info implements step.Step.
func (*Federation) Info() step.Info {
	return step.Info{Stage: step.Federate, Default: true, NeedsResponse: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	federation [off]
func (*Federation) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() || d.NextBlock(0) {
		return d.Errf("federation: unexpected %q: want off, or nothing", d.Val())
	}
	return nil
}

// Join implements step.Step.
func (f *Federation) Join(site step.Site) error {
	f.budgets = site.Budgets
	return nil
}

// passes is what a client address (IPv4 /32, IPv6 /64) gets at a site: anyone can sign such
// requests with any key.
var passes = throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{{Requests: 60, Per: time.Minute}}, Burst: 60, Exact: true})

// seed is that of the hashes for keys. Packages enforce and limits have others.
const seed = 200

// mayPass uses the budget of a client, and reports whether it has one.
func (f *Federation) mayPass(r *judge.Request) bool {
	key := throttle.KeyOf(judge.Origin{Host: r.SiteName()}.Hash(seed, "")).Client(r.Addr())
	return f.budgets.Take(context.Background(), r.Time, []throttle.Use{{Key: key, Limits: passes}}).OK
}

// refusals has the refusal of a request that gets only a document. Action is Pass for all
// others.
var refusals = step.NewSlot[judge.Decision]()

// Wrap implements step.Decider: a refused request passes as long as it gets a document.
func (f *Federation) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		next(x)
		if x.Decision.Action == judge.Pass || !asks(x.HTTP) {
			return
		}
		refusal := x.Decision
		if !x.Client.Excuse(&x.Decision, Reason) {
			return
		}
		if !f.mayPass(&x.Request) {
			x.Decision = refusal
			return
		}
		next(x)
		if x.Decision.Action == judge.Pass {
			*refusals.Of(x) = refusal
		}
	}
}

// Serves implements step.Server.
func (*Federation) Serves(x *step.Exchange) bool {
	return x.Decision.Action == judge.Pass && refusals.Of(x).Action != judge.Pass
}

// Serve implements step.Server. If the answer is not a document, the refusal takes its
// place, before anything of the answer is sent.
func (*Federation) Serve(x *step.Exchange, w http.ResponseWriter, next func(http.ResponseWriter) error) error {
	request := x.HTTP
	serve := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		x.HTTP = r
		return next(w)
	})
	refused, err := serveDocument(w, request, serve, func() bool {
		x.Withdraw(refusals.Of(x))
		return !x.Decision.Monitored
	})
	x.HTTP = request
	if !refused {
		return err
	}
	return x.Refuse(w)
}

// Interface guards
var (
	_ step.Step    = (*Federation)(nil)
	_ step.Decider = (*Federation)(nil)
	_ step.Server  = (*Federation)(nil)
)
