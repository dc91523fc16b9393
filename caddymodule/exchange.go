package caddymodule

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// exchange is a request on its way through the steps of ServeHTTP, with what each of
// them has found.
type exchange struct {
	step.Exchange
	core
	number uint32 // unique among the exchanges that run at the same time
}

// core is what the core has found.
type core struct {
	w        http.ResponseWriter
	handler  *Handler
	running  *running
	off      bool // the handler leaves the host alone
	asked    bool // another proxy asks about the request
	paced    bool // the decision may have used budget
	server   *caddyhttp.Server
	vars     map[string]any // the request's variables; nil without a server
	site     *counters.Site // the counters of the site
	unread   *answer        // to a request whose body was not read; nil for all others
	counts   bool           // the decision is counted when the request ends
	recorded *record        // nil for a person
}

// exchanges are reused, so that requests allocate none.
var exchanges = sync.Pool{New: func() any { return &exchange{number: exchangeNumber.Add(1)} }}

var exchangeNumber atomic.Uint32

// release ends the request, clears x and returns it to the pool.
func (x *exchange) release() {
	if d := &x.Decision; x.paced && d.Action != judge.Pass && !d.Monitored {
		x.running.GiveBack(&x.Request, d, x.Uses)
	}
	if x.counts && x.vars[step.Uncounted] == nil {
		x.count()
	}
	for _, s := range x.handler.steps.enders {
		s.End(&x.Exchange)
	}
	taken := x.Taken
	x.Clear()
	x.core = core{}
	if !taken {
		exchanges.Put(x)
	}
}

// open fills in what is known about a request before the first step. It returns the
// record of an earlier robots handler, nil if there is none.
func (h *Handler) open(x *exchange, r *http.Request) (earlier *record) {
	ctx, q := r.Context(), &x.Request
	x.HTTP, x.handler, x.running = r, h, h.running.Load()
	x.server, _ = ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	q.Method, q.Target, q.UserAgents, q.Time, q.Caller = r.Method, originalTarget(r), r.Header["User-Agent"], clock.Now(), x
	q.Brands = r.Header["Sec-Ch-Ua"]
	q.Authorized = len(r.Header["Authorization"]) > 0
	trusted := false
	if vars, ok := ctx.Value(caddyhttp.VarsCtxKey).(map[string]any); ok {
		x.vars = vars
		q.Client, _ = vars[caddyhttp.ClientIPVarKey].(string)
		trusted, _ = vars[caddyhttp.TrustedProxyVarKey].(bool)
		earlier, _ = vars[recordVar].(*record)
	}
	q.Proxied = trusted
	sites := h.sitesOf(x.server)
	q.Origin = h.origin(r, sites, trusted)
	mode := x.running.modes.At(q.Origin.Host)
	if x.off = mode == nil; x.off {
		h.steps.strip(&x.Exchange, true)
		return nil
	}
	q.Mode = mode.Mode
	if sites != nil {
		x.site, q.Site, q.Invented = sites.count(q.Origin.Host, q.Time)
	} else {
		x.site = h.app.anySite
	}
	q.Ambiguous = trusted && isAmbiguous(r, x.server, q.Client)
	h.steps.strip(&x.Exchange, false)
	if h.steps.claims.Signatures && len(r.Header["Signature-Input"]) > 0 {
		q.Signed = h.signed(x, trusted)
	}
	return earlier
}
