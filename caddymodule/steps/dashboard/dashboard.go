package dashboard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
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
	// of. Without a default, in a named route or a site without a host, the page is
	// closed.
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

	reporter statusapi.Reporter
	ctx      caddy.Context
	find     sync.Once
	sites    []string // to show; none if the dashboard's own site was not found
}

// CaddyModule returns the Caddy module information.
func (*Dashboard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.robots_dashboard", New: func() caddy.Module { return new(Dashboard) }}
}

// Provision validates the configuration.
func (b *Dashboard) Provision(ctx caddy.Context) error {
	app, err := ctx.App("robots")
	if err != nil {
		return err
	}
	b.ctx, b.reporter = ctx, app.(step.App).Reporter()
	return b.validate()
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
	SetHeaders(w.Header())
	if !b.allows(r) {
		http.Error(w, forbidden, http.StatusForbidden)
		return nil
	}
	scope, known := b.scope(r)
	if !known {
		http.Error(w, unknownSites, http.StatusForbidden)
		return nil
	}
	// It is not counted: an open page sends twenty requests a minute, and its User-Agent may
	// be that of a robot.
	caddyhttp.SetVar(r.Context(), step.Uncounted, true)
	return ServeHTTP(w, r, b.reporter, scope)
}

// parseDashboard sets up a Dashboard from the directive robots_dashboard.
func parseDashboard(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	b := new(Dashboard)
	return b, b.UnmarshalCaddyfile(h.Dispenser)
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
	if err := lines.NoValues("robots_dashboard", d.RemainingArgs()); err != nil {
		return d.WrapErr(err)
	}
	p := lines.Parser{Dispenser: d}
	return p.Block(lines.Table{
		"hosts": func(name string, hosts []string) error {
			b.Hosts = append(b.Hosts, hosts...)
			if len(hosts) == 0 {
				return fmt.Errorf("%s: want at least one host, such as shop.example.com or *.example.com", name)
			}
			return nil
		},
		"all_sites": func(name string, values []string) error {
			b.AllSites = true
			if len(values) > 0 {
				return fmt.Errorf("%s takes no value, not %q", name, values[0])
			}
			return nil
		},
		"access": lines.Choice(&b.Access, lines.Choices{accessExternal}),
	}, b.validate, "hosts")
}

// authUser is the placeholder that Caddy's authentication handlers set.
const authUser = "http.auth.user.id"

// forbidden is the body of the 403 answer.
const forbidden = `403: this dashboard is closed, because Caddy did not authenticate the request.

Put basic_auth, or another authentication that sets {http.auth.user.id}, before
robots_dashboard, or require client certificates. If forward_auth, a private
network or the like protects the page, write

	robots_dashboard {
		access external
	}`

// unknownSites is the body of the 403 answer of a dashboard without a scope.
const unknownSites = `403: this dashboard does not know which sites it may show, because it is in a
named route, or in a site without a host name. Write the hosts, or all_sites if
everybody who can open it may see all sites of this server:

	robots_dashboard {
		hosts shop.example.com
	}`

// allows reports whether a request may see the dashboard: Caddy authenticated
// it, or the operator configured external access control.
func (b *Dashboard) allows(r *http.Request) bool {
	if b.Access == accessExternal || r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return true
	}
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return false
	}
	user, _ := repl.GetString(authUser)
	return user != ""
}

// checkHostPattern returns an error if host is neither a host name nor a pattern
// of host names.
func checkHostPattern(host string) error {
	switch {
	case host == "":
		return fmt.Errorf("hosts: a host is empty")
	case strings.ContainsAny(host, "/?#@ "):
		return fmt.Errorf("hosts %q: write only the host name, such as shop.example.com", host)
	case strings.Count(host, ":") == 1:
		return fmt.Errorf("hosts %q: write the host without a port", host)
	}
	return nil
}

// scope returns the sites to show in the answer to a request, and whether they are
// known. They depend on the configuration alone: the client chooses the host of the
// request. One process may serve the sites of several tenants, and no tenant may see
// another one's.
func (b *Dashboard) scope(r *http.Request) (scope statusapi.Scope, known bool) {
	if b.AllSites {
		return statusapi.AllSites(), true
	}
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	b.find.Do(func() { b.findSites(server) }) // at the first request: the routes are not complete before
	return statusapi.Sites(b.sites...), len(b.sites) > 0
}

// findSites fills in the sites.
func (b *Dashboard) findSites(server *caddyhttp.Server) {
	servers := routes.Servers(b.ctx)
	if server != nil && !slices.Contains(servers, server) {
		servers = append(servers, server)
	}
	if b.Hosts != nil {
		b.sites = b.chosen(servers)
		return
	}
	for _, server := range servers {
		if b.sites == nil {
			b.sites = routes.SitesAround(server, b)
		}
	}
}

// chosen returns the hosts that the operator configured, and the hosts of this
// process that match a pattern among them.
func (b *Dashboard) chosen(servers []*caddyhttp.Server) (sites []string) {
	for _, host := range b.Hosts {
		sites = append(sites, routes.PlainHost(caddy.NewReplacer().ReplaceAll(host, "")))
	}
	for _, server := range servers {
		for _, name := range routes.NewServer(server).Sites {
			if !routes.IsPattern(name) && slices.ContainsFunc(sites, func(host string) bool { return routes.MatchesHost(host, name) }) {
				sites = append(sites, name)
			}
		}
	}
	return sites
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Dashboard)(nil)
	_ caddyfile.Unmarshaler       = (*Dashboard)(nil)
	_ caddyhttp.MiddlewareHandler = (*Dashboard)(nil)
)
