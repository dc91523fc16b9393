// Package federation knows the requests with which servers of the Fediverse fetch each
// other's actors and posts (ActivityPub), and lets only such documents through. It checks
// no signature: whose key it is only the site's own software knows.
package federation

import (
	"hash/maphash"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/table"
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
// disallows, if the answer is an ActivityPub document: at most 60 in a minute of a client
// address. Crawlers of the registry, and those that a group names, are held. Default: on.
//
//	federation off
type Federation struct {
	passed  *table.Table[federating]
	release func() error
}

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
func (f *Federation) Join(step.Site) error {
	f.passed, f.release = shared.Get("federation", func() *table.Table[federating] { return table.New[federating](maxFederating) })
	return nil
}

// Cleanup implements caddy.CleanerUpper.
func (f *Federation) Cleanup() error {
	if f.release == nil {
		return nil
	}
	return f.release()
}

// Limits for the requests that pass. Anyone can sign such a request with any key.
const (
	maxFederated  = 60 // in federatedTime, of one client address (IPv4 /32, IPv6 /64) at a site
	federatedTime = time.Minute
	maxFederating = 1 << 12
)

// federating has the times of the latest requests of a client that passed so, in
// nanoseconds since 1970.
type federating struct {
	mu    sync.Mutex
	times [maxFederated]int64
	next  int // the oldest one
}

// latest returns the time of the latest request.
func (f *federating) latest() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times[(f.next+maxFederated-1)%maxFederated]
}

// take notes a request, and reports whether it is one of maxFederated in federatedTime.
func (f *federating) take(now int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since := now - f.times[f.next]; 0 <= since && since < int64(federatedTime) {
		return false
	}
	f.times[f.next] = now
	f.next = (f.next + 1) % maxFederated
	return true
}

// seed is random, so that clients can't choose hosts that displace a certain one.
var seed = maphash.MakeSeed()

// mayPass notes a request, and reports whether it is one of the first 60 in a minute of its
// client address at a site.
func (f *Federation) mayPass(r *judge.Request) bool {
	key := throttle.Key{maphash.String(seed, r.SiteName())}.Client(r.Addr())
	return f.passed.Add(key[0], (*federating).latest, nil).take(r.Time.UnixNano())
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
	_ caddy.CleanerUpper = (*Federation)(nil)
	_ step.Step          = (*Federation)(nil)
	_ step.Decider       = (*Federation)(nil)
	_ step.Server        = (*Federation)(nil)
)
