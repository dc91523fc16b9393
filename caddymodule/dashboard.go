package caddymodule

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/dashboard"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

func init() {
	caddy.RegisterModule(new(Dashboard))
	httpcaddyfile.RegisterHandlerDirective("robots_dashboard", parseDashboard)
	httpcaddyfile.RegisterDirectiveOrder("robots_dashboard", httpcaddyfile.Before, "respond")
}

// accessExternal is the value of Dashboard.Access besides "".
const accessExternal = "external"

// Dashboard serves a page that shows what the robots handlers do now: which
// crawlers come, what they are denied by which line of robots.txt, whether the
// policies are in force, and what a User-Agent and a URL would get. The page
// changes nothing.
//
// It answers 403 unless the request was authenticated by Caddy
// (`{http.auth.user.id}` is set) or by a verified client certificate. Never
// shown are query strings, the patterns of hidden paths, whole addresses and
// credentials.
type Dashboard struct {
	// The hosts to show: names, or patterns such as `*.example.com`. Default:
	// the hosts of the site that the handler is part of.
	Hosts []string `json:"hosts,omitempty"`

	// Show the hosts of all sites of this server process.
	AllSites bool `json:"all_sites,omitempty"`

	// `external` says that something protects the page that this handler can't
	// see, such as forward_auth or a private network. Default: only requests
	// that Caddy has authenticated are answered.
	Access string `json:"access,omitempty"`

	app      *App
	reporter status.Reporter
	scope    dashboardScope
}

// CaddyModule returns the Caddy module information.
func (*Dashboard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_dashboard",
		New: func() caddy.Module { return new(Dashboard) },
	}
}

// Provision makes the handler ready.
func (b *Dashboard) Provision(ctx caddy.Context) error {
	app, err := ctx.App("robots")
	if err != nil {
		return err
	}
	return b.provision(ctx, app.(*App))
}

// provision is Provision as a part of an app.
func (b *Dashboard) provision(ctx caddy.Context, app *App) error {
	if err := b.validate(); err != nil {
		return err
	}
	b.app, b.reporter = app, app.reporter()
	b.scope.dashboard, b.scope.ctx = b, ctx
	return nil
}

func (b *Dashboard) validate() error {
	if b.Access != "" && b.Access != accessExternal {
		return fmt.Errorf("access %q: want external, or nothing", b.Access)
	}
	if b.AllSites && len(b.Hosts) > 0 {
		return fmt.Errorf("all_sites goes with no hosts")
	}
	for _, host := range b.Hosts {
		if err := checkHostPattern(host); err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP answers with the page, its data, or an explanation of why not.
func (b *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	dashboard.SetHeaders(w.Header())
	if !b.allows(r) {
		return forbid(w, r)
	}
	b.uncount(r)
	return dashboard.ServeHTTP(w, r, b.reporter, b.scope.of(r))
}

// uncount takes a request for the dashboard out of the count of people: a page
// that is open asks twenty times a minute.
func (b *Dashboard) uncount(r *http.Request) {
	if recordOf(r) != person {
		return
	}
	site := b.app.anySite
	if server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok && server != nil {
		facts := newServerFacts(server)
		facts.count(b.app.counters.Counters)
		site, _, _ = facts.site(plainHost(r.Host))
	}
	site.UncountPerson()
}

// parseDashboard sets up a Dashboard from the directive robots_dashboard.
func parseDashboard(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	b := new(Dashboard)
	if err := b.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return b, nil
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	robots_dashboard [<matcher>] {
//		hosts     <hosts...>
//		all_sites
//		access    external
//	}
func (b *Dashboard) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if d.NextArg() {
		return d.Errf("unexpected %q: robots_dashboard takes its options in a block", d.Val())
	}
	for d.NextBlock(0) {
		name, args := d.Val(), d.RemainingArgs()
		switch {
		case name == "hosts" && len(args) > 0:
			b.Hosts = append(b.Hosts, args...)
		case name == "hosts":
			return d.Err("hosts: want at least one host, such as shop.example.com or *.example.com")
		case name == "all_sites" && len(args) == 0:
			b.AllSites = true
		case name == "all_sites":
			return d.Errf("all_sites takes no value, not %q", args[0])
		case name == "access" && len(args) == 1:
			b.Access = args[0]
		case name == "access":
			return d.Err("access takes one value: external")
		default:
			return d.Errf("unknown subdirective %q: want hosts, all_sites or access", name)
		}
		if err := b.validate(); err != nil {
			return d.WrapErr(err)
		}
	}
	return nil
}

// Interface guards
var (
	_ caddy.Module                = (*Dashboard)(nil)
	_ caddy.Provisioner           = (*Dashboard)(nil)
	_ caddyfile.Unmarshaler       = (*Dashboard)(nil)
	_ caddyhttp.MiddlewareHandler = (*Dashboard)(nil)
)
