package caddymodule

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/dashboard"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

func init() {
	caddy.RegisterModule(new(Dashboard))
	httpcaddyfile.RegisterHandlerDirective("robots_dashboard", parseDashboard)
	httpcaddyfile.RegisterDirectiveOrder("robots_dashboard", httpcaddyfile.Before, "respond")
}

// accessExternal is the only value of Dashboard.Access other than "".
const accessExternal = "external"

// Dashboard serves a page that shows what the robots handlers do: which crawlers
// visit, which line of robots.txt refused their requests, whether each
// robots.txt is in force, and what would happen to a request with a given
// User-Agent and URL. Nothing can be changed on the page.
//
// It answers 403 unless Caddy authenticated the request (`{http.auth.user.id}`
// is set) or verified a client certificate. It never shows query strings, the
// patterns of hidden paths, whole IP addresses or credentials.
type Dashboard struct {
	// The hosts to show: names, or patterns such as `*.example.com`. Not allowed
	// with `all_sites`. Default: the hosts of the site that the handler is part
	// of.
	Hosts []string `json:"hosts,omitempty"`

	// Whether the dashboard shows the hosts of all sites of this server process.
	// Set it only if everybody who can open the page may see all sites. Default:
	// false.
	AllSites bool `json:"all_sites,omitempty"`

	// `external` switches the handler's own access check off. Use it if
	// something else protects the page, such as forward_auth or a private
	// network; otherwise anybody can open it. Default: the handler answers only
	// authenticated requests.
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

// Provision validates the configuration.
func (b *Dashboard) Provision(ctx caddy.Context) error {
	app, err := ctx.App("robots")
	if err != nil {
		return err
	}
	return b.provision(ctx, app.(*App))
}

// provision is Provision with a given app.
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
		return fmt.Errorf("access %q: want external", b.Access)
	}
	if b.AllSites && len(b.Hosts) > 0 {
		return fmt.Errorf("all_sites and hosts exclude each other: remove one of them")
	}
	for _, host := range b.Hosts {
		if err := checkHostPattern(host); err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP answers with the page or its data, or with 403 and the reason.
func (b *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	dashboard.SetHeaders(w.Header())
	if !b.allows(r) {
		return forbid(w, r)
	}
	b.uncount(r)
	return dashboard.ServeHTTP(w, r, b.reporter, b.scope.of(r))
}

// uncount subtracts a request for the dashboard from the site's count of
// people's requests: an open page sends twenty requests a minute.
func (b *Dashboard) uncount(r *http.Request) {
	if recordOf(r) != person {
		return
	}
	site := b.app.anySite
	if server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok && server != nil {
		site, _, _ = b.app.sitesOf(server).count(routes.PlainHost(r.Host))
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
