package live

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Bounds of Check.
const (
	maxCheckURL   = 8 << 10         // octets
	maxCheckAgent = 4 << 10         // octets
	checkTimeout  = 6 * time.Second // for the first read of a robots.txt
)

// Check implements statusapi.Reporter.
func (r *Reporter) Check(scope statusapi.Scope, query statusapi.CheckQuery) (*statusapi.Check, error) {
	switch {
	case query.URL == "":
		return nil, badRequest("url is missing: add an absolute URL, such as url=https://example.com/page")
	case len(query.URL) > maxCheckURL:
		return nil, badRequest("url has more than %d octets", maxCheckURL)
	case len(query.UserAgent) > maxCheckAgent:
		return nil, badRequest("ua has more than %d octets", maxCheckAgent)
	}
	if query.Client != "" {
		if _, err := netip.ParseAddr(query.Client); err != nil {
			return nil, badRequest("client=%.100q is not an IP address, such as 192.0.2.1", query.Client)
		}
	}
	target, origin, err := splitURL(query.URL)
	if err != nil {
		return nil, err
	}
	candidates := r.candidates(scope, origin)
	if len(candidates) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "no robots handler that you may see serves %s", origin.Host)
	}
	c, err := decider(candidates, target, &query)
	if err != nil {
		return nil, badRequest("url=%.200q: %v", query.URL, err)
	}
	if c == nil {
		check := newCheck(&query, origin)
		check.Site, check.Action, check.Reason = candidates[0].SiteOf(origin.Host), judge.Pass.String(), statusapi.ReasonNoHandler
		check.Message = "No robots handler decides about this URL, because of the request matchers or a line host: the request would pass."
		return check, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	return c.check(ctx, r.app.Now(), target, &query)
}

func newCheck(query *statusapi.CheckQuery, origin judge.Origin) *statusapi.Check {
	return &statusapi.Check{
		URL: query.URL, UserAgent: query.UserAgent, Origin: origin.String(),
		Check: verdict.Check{RequestRates: []string{}, VisitTimes: []string{}, ExemptFrom: []string{}, Steps: []string{}},
	}
}

// check returns the decision of the handler. A product token that it does not know is an error.
func (d *candidate) check(ctx context.Context, now time.Time, target string, query *statusapi.CheckQuery) (*statusapi.Check, error) {
	origins := d.engine().Origins()
	request := &judge.Request{
		Method: http.MethodGet, Target: target, UserAgents: []string{query.UserAgent}, Origin: d.origin, Client: query.Client, Assumed: true,
		Time: now, Caller: d.Caller(d.origin),
	}
	request.Site, request.Invented = d.Invented(d.origin.Host)
	request.Mode = d.modes().At(d.origin.Host).Mode // it decides, so that it is not off
	rules := origins.Peek(request)
	if rules == nil {
		rules = origins.Wait(ctx, request)
	}
	if rules == nil {
		rules = origins.Pending()
	}
	c := newCheck(query, d.origin)
	made, decision := verdict.NewCheck(rules, nil, request, d.maxDelay(), statusapi.Explain(d.Explainers))
	if wrong := verdict.UnknownToken(rules, decision, query.UserAgent); wrong != "" && rules.Outcome() != judge.Pending {
		return nil, badRequest("ua=%s", wrong)
	}
	c.Check, c.Message = *made, made.Text()+"."
	c.Site, c.State, c.Matcher = d.SiteOf(d.origin.Host), rules.Outcome().String(), d.Route.Matcher()
	return c, nil
}

// splitURL returns the request target and the origin of a URL.
func splitURL(raw string) (target string, origin judge.Origin, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", origin, badRequest("url=%.200q is not an absolute http or https URL", raw)
	}
	_, rest, _ := strings.Cut(raw, "://")
	target = "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		target, _, _ = strings.Cut(rest[i:], "#")
		if !strings.HasPrefix(target, "/") {
			target = "/" + target
		}
	}
	port, err := net.LookupPort("tcp", cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	if err != nil {
		return "", origin, badRequest("url=%.200q has no valid port", raw)
	}
	return target, judge.NewOrigin(u.Scheme, u.Host, uint16(port)), nil
}

// candidate is a handler that serves the host of a URL.
type candidate struct {
	*Handler
	origin judge.Origin // of the URL, with the port of the handler's listener, which may differ from that of the URL
	points int          // how well the handler's server fits the URL
}

// candidates returns the handlers in a scope that serve the host of an origin. It
// has those with the most points.
func (r *Reporter) candidates(scope statusapi.Scope, origin judge.Origin) (list []candidate) {
	for _, h := range r.handlersIn(scope) {
		if !h.Serves(origin.Host) || !scope.Host(h.SiteOf(origin.Host), origin.Host) {
			continue
		}
		c := candidate{h, origin, 1}
		for _, site := range h.Hosts {
			switch {
			case site == origin.Host:
				c.points = max(c.points, 16)
			case site != statusapi.AnySite:
				c.points = max(c.points, 8)
			}
		}
		if h.Server != nil {
			if h.Server.Port == origin.Port {
				c.points += 4
			}
			if h.HasScheme(origin.Scheme) {
				c.points += 2
			}
			if h.Server.Port != 0 {
				c.origin.Port = h.Server.Port
			}
		}
		list = append(list, c)
	}
	return list
}

// decider returns the handler that a GET request reaches first at the server that fits the
// URL best; nil for none. Of several such servers the first counts whose routes lead to one.
func decider(candidates []candidate, target string, query *statusapi.CheckQuery) (*candidate, error) {
	best := slices.MaxFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.points, b.points) })
	for i := range candidates {
		c := &candidates[i]
		if c.points != best.points {
			continue
		}
		if c.Server == nil { // its place is not known
			if c.modes().At(c.origin.Host) != nil {
				return c, nil
			}
			continue
		}
		request, err := requestTo(c.Server, c.origin, target, query)
		if err != nil {
			return nil, err
		}
		found := routes.First(c.Server.Live.Routes, request, func(module caddyhttp.MiddlewareHandler) bool {
			i := slices.IndexFunc(candidates, func(c candidate) bool { return c.Module == module })
			return i >= 0 && candidates[i].modes().At(c.origin.Host) != nil
		})
		if i := slices.IndexFunc(candidates, func(c candidate) bool { return c.Module == found }); i >= 0 {
			return &candidates[i], nil
		}
	}
	return nil, nil
}

// requestTo returns a GET request to a server.
func requestTo(server *routes.Server, origin judge.Origin, target string, query *statusapi.CheckQuery) (*http.Request, error) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	_, host, _ := strings.Cut(origin.String(), "://")
	request := &http.Request{
		Method: http.MethodGet, URL: u, RequestURI: target, Host: host, Header: make(http.Header), Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: siteread.RemoteAddr,
	}
	if query.UserAgent != "" {
		request.Header.Set("User-Agent", query.UserAgent)
	}
	if query.Client != "" {
		request.RemoteAddr = net.JoinHostPort(query.Client, "1")
	}
	if server.HasTLS() {
		request.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: origin.Host}
	}
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)})
	return caddyhttp.PrepareRequest(request.WithContext(ctx), caddy.NewReplacer(), nil, server.Live), nil
}
