package dashboard

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// authenticated returns a request that Caddy has authenticated as user; an empty
// user means that it has not.
func authenticated(method, target, user string) *http.Request {
	r := httptest.NewRequest(method, "http://example.com"+target, nil)
	repl := caddy.NewReplacer()
	if user != "" {
		repl.Set(authUser, user)
	}
	return caddyhttp.PrepareRequest(r, repl, nil, nil)
}

// answer returns the answer of a dashboard.
func answer(t *testing.T, b *Dashboard, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	if err := b.ServeHTTP(w, r, nil); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestDashboardAccess(t *testing.T) {
	withTLS := func(state tls.ConnectionState) *http.Request {
		r := authenticated(http.MethodGet, "/", "")
		r.TLS = &state
		return r
	}
	forged := authenticated(http.MethodGet, "/?http.auth.user.id=admin", "")
	forged.Header.Set("Authorization", "Basic YWRtaW46YWRtaW4=")
	forged.Header.Set("Http.auth.user.id", "admin")
	for _, tt := range []struct {
		name   string
		access string
		r      *http.Request
		want   int
	}{
		{"without authentication", "", authenticated(http.MethodGet, "/", ""), http.StatusForbidden},
		{"data without authentication", "", authenticated(http.MethodGet, "/?data=live", ""), http.StatusForbidden},
		{"POST without authentication", "", authenticated(http.MethodPost, "/", ""), http.StatusForbidden},
		{"credentials that Caddy did not check", "", forged, http.StatusForbidden},
		{"a user", "", authenticated(http.MethodGet, "/", "alice"), http.StatusOK},
		{"TLS without a client certificate", "", withTLS(tls.ConnectionState{}), http.StatusForbidden},
		{"a client certificate that is not verified", "", withTLS(tls.ConnectionState{PeerCertificates: []*x509.Certificate{{}}}), http.StatusForbidden},
		{"a verified client certificate", "", withTLS(tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{}}}}), http.StatusOK},
		{"external", accessExternal, authenticated(http.MethodGet, "/", ""), http.StatusOK},
		{"a request without Caddy's replacer", "", httptest.NewRequest(http.MethodGet, "/", nil), http.StatusForbidden},
	} {
		b := &Dashboard{Access: tt.access, AllSites: true}
		w := answer(t, b, tt.r)
		if w.Code != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, w.Code, tt.want)
		}
		if tt.want == http.StatusForbidden && !strings.Contains(w.Body.String(), "access external") {
			t.Errorf("%s: the answer does not name access external: %q", tt.name, w.Body)
		}
		for field, want := range map[string]string{
			"Cache-Control": "no-store", "X-Robots-Tag": "noindex", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY",
		} {
			if got := w.Header().Get(field); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %s", tt.name, field, got, want)
			}
		}
	}
}

// The dashboard changes no state. It refuses all methods except GET and HEAD.
func TestDashboardOnlyReads(t *testing.T) {
	b := &Dashboard{AllSites: true}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
		for _, target := range []string{"/", "/?data=live", "/?data=refresh", "/?data=mode&mode=monitor", "/?data=budgets/reset"} {
			if w := answer(t, b, authenticated(method, target, "alice")); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d, Allow %q", method, target, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	for _, target := range []string{"/?data=refresh", "/?data=mode&mode=monitor", "/?data=budgets/reset&crawler=bingbot", "/?data=budgets"} {
		if w := answer(t, b, authenticated(http.MethodGet, target, "alice")); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", target, w.Code)
		}
	}
}

// hostRoute returns a route like that of a site block in a Caddyfile. Nil hosts
// mean any host.
func hostRoute(hosts []string, handlers ...caddyhttp.MiddlewareHandler) caddyhttp.Route {
	route := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: caddyhttp.RouteList{{Handlers: handlers}}}}}
	if hosts != nil {
		match := caddyhttp.MatchHost(hosts)
		route.MatcherSets = caddyhttp.MatcherSets{{&match}}
	}
	return route
}

// A dashboard shows the hosts of its own site block, and no other tenant's.
func TestDashboardScope(t *testing.T) {
	own := new(Dashboard)
	other := &caddyhttp.StaticResponse{}
	in := func(routes ...caddyhttp.Route) caddyhttp.MiddlewareHandler {
		return &caddyhttp.Subroute{Routes: caddyhttp.RouteList(routes)}
	}
	for _, tt := range []struct {
		name   string
		routes caddyhttp.RouteList
		want   []string
	}{
		{"a site beside another one's", caddyhttp.RouteList{
			hostRoute([]string{"a.example.com"}, other), hostRoute([]string{"B.example.com", "c.example.com"}, own),
		}, []string{"b.example.com", "c.example.com"}},
		{"a site for all hosts, beside one with a name", caddyhttp.RouteList{
			hostRoute([]string{"a.example.com"}, other), hostRoute(nil, own),
		}, nil},
		{"a site for all hosts, with a route for one inside", caddyhttp.RouteList{
			hostRoute(nil, own, in(hostRoute([]string{"a.example.com"}, other))),
		}, nil},
		{"a wildcard, beside a name that it covers", caddyhttp.RouteList{
			hostRoute([]string{"a.example.com"}, other), hostRoute([]string{"*.example.com"}, own),
		}, []string{"*.example.com"}},
		{"a wildcard with routes for hosts inside", caddyhttp.RouteList{
			hostRoute([]string{"*.example.com"}, own, in(hostRoute([]string{"a.example.com"}, other), hostRoute([]string{"a.example.net"}, other))),
		}, []string{"*.example.com", "a.example.com"}},
		{"inside a route for one host of a wildcard", caddyhttp.RouteList{
			hostRoute([]string{"*.example.com"}, in(hostRoute([]string{"a.example.com"}, other), hostRoute([]string{"b.example.com"}, own))),
		}, []string{"b.example.com"}},
		{"inside a route for a wildcard of one host", caddyhttp.RouteList{
			hostRoute([]string{"b.example.com"}, in(hostRoute([]string{"*.example.com"}, own))),
		}, []string{"b.example.com"}},
		{"inside a route for a host that the site does not have", caddyhttp.RouteList{
			hostRoute([]string{"b.example.com"}, in(hostRoute([]string{"a.example.com"}, own))),
		}, nil},
	} {
		*own = Dashboard{}
		server := &caddyhttp.Server{Routes: tt.routes}
		r := httptest.NewRequest(http.MethodGet, "http://b.example.com/", nil)
		scope, known := own.scope(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), nil, server))
		if known != (tt.want != nil) {
			t.Errorf("%s: known %t", tt.name, known)
		}
		for _, site := range []string{"*", "*.example.com", "a.example.com", "b.example.com", "c.example.com", "a.example.net"} {
			if got, want := scope.Site(site), slices.Contains(tt.want, site); got != want {
				t.Errorf("%s: shows %s: %t, want %t", tt.name, site, got, want)
			}
		}
	}
}

// A dashboard that is in no route, as in a named one, shows nothing: the client chose
// the host of the request.
func TestDashboardScopeOutsideRoutes(t *testing.T) {
	b := new(Dashboard)
	for _, target := range []string{"/", "/?data=live", "/?data=check&url=http://example.com/"} {
		if w := answer(t, b, authenticated(http.MethodGet, target, "alice")); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "all_sites") {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

func TestDashboardChosenHosts(t *testing.T) {
	b := &Dashboard{Hosts: []string{"*.Example.com", "other.test"}}
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{
		hostRoute([]string{"a.example.com", "other.test", "third.test"}, b), hostRoute([]string{"*.example.com"}, b),
	}}
	r := httptest.NewRequest(http.MethodGet, "http://third.test/", nil)
	scope, _ := b.scope(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), nil, server))
	for site, want := range map[string]bool{"*.example.com": true, "a.example.com": true, "other.test": true, "third.test": false, "*": false} {
		if scope.Site(site) != want {
			t.Errorf("shows %s: %t, want %t", site, !want, want)
		}
	}
	b.AllSites, b.Hosts = true, nil
	if scope, known := b.scope(r); !known || !scope.All() {
		t.Error("all_sites does not show all sites")
	}
}

func TestDashboardCaddyfile(t *testing.T) {
	for text, want := range map[string]*Dashboard{
		"robots_dashboard": {},
		"robots_dashboard {\n hosts a.test *.b.test\n hosts c.test\n}": {Hosts: []string{"a.test", "*.b.test", "c.test"}},
		"robots_dashboard {\n all_sites\n access external\n}":          {AllSites: true, Access: accessExternal},
		"robots_dashboard {\n hosts 2001:db8::1\n access external\n}":  {Hosts: []string{"2001:db8::1"}, Access: accessExternal},
	} {
		var b Dashboard
		if err := b.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !slices.Equal(b.Hosts, want.Hosts) || b.AllSites != want.AllSites || b.Access != want.Access {
			t.Errorf("%s: %v %t %q", text, b.Hosts, b.AllSites, b.Access)
		}
	}
	for text, want := range map[string]string{
		"robots_dashboard here":                            "block",
		"robots_dashboard {\n host a.test\n}":              `unknown subdirective "host"`,
		"robots_dashboard {\n hosts\n}":                    "at least one host",
		"robots_dashboard {\n hosts https://a.test\n}":     "only the host name",
		"robots_dashboard {\n hosts a.test:443\n}":         "without a port",
		"robots_dashboard {\n all_sites yes\n}":            "takes no value",
		"robots_dashboard {\n all_sites\n hosts a.test\n}": "all_sites and hosts exclude each other",
		"robots_dashboard {\n access\n}":                   "one value",
		"robots_dashboard {\n access everybody\n}":         "want external",
	} {
		err := new(Dashboard).UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Testfile:") {
			t.Errorf("%s: %v, want %s, with file and line", text, err, want)
		}
	}
}
