package caddymodule

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Bounds of Check.
const (
	maxCheckURL   = 8 << 10         // octets
	maxCheckAgent = 4 << 10         // octets
	checkTimeout  = 6 * time.Second // for the first read of a robots.txt
)

// Check implements status.Reporter.
func (r *reporter) Check(scope status.Scope, query status.CheckQuery) (*status.Check, error) {
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
		return nil, status.Errorf(http.StatusNotFound, "no robots handler that you may see serves %s", origin.Host)
	}
	deciders, err := decidersOf(candidates, origin, target, &query)
	if err != nil {
		return nil, badRequest("url=%.200q: %v", query.URL, err)
	}
	if len(deciders) == 0 {
		return &status.Check{
			URL: query.URL, UserAgent: query.UserAgent, Site: candidates[0].SiteOf(origin.Host), Origin: origin.String(), Certain: true,
			Action: enforce.Pass.String(), Reason: status.ReasonNoHandler, RequestRates: []string{}, VisitTimes: []string{}, ExemptFrom: []string{}, Others: []*status.Check{},
			Message: "No robots handler decides about this URL, because of the request matchers: the request would pass.",
		}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	more := max(0, len(deciders)-1-status.MaxCheckOthers)
	checks := make([]*status.Check, len(deciders)-more)
	for i := range checks {
		checks[i] = deciders[i].check(ctx, target, &query)
	}
	return combine(checks, more), nil
}

// check returns the decision of the handler.
func (d *decider) check(ctx context.Context, target string, query *status.CheckQuery) *status.Check {
	h, origin, current := d.siteHandler, d.origin, d.running.Load()
	request := &enforce.Request{
		Method: http.MethodGet, Target: target, UserAgents: []string{query.UserAgent}, Origin: origin, Client: query.Client, Assumed: true,
		Time: clock.Now(), Caller: h.caller(origin),
	}
	request.Site, request.Invented = h.Invented(origin.Host)
	policy := current.Origins().Peek(request)
	if policy == nil {
		policy = current.Origins().Wait(ctx, request)
	}
	check := &status.Check{
		URL: query.URL, UserAgent: query.UserAgent, Site: h.SiteOf(origin.Host), Origin: origin.String(),
		OriginID: h.policyID(current.Origins().Key(origin), !current.Origins().PerOrigin()), State: enforce.Pending.String(),
		Matcher: d.Route.Matcher(), Certain: d.Reach == routes.Surely,
		RequestRates: []string{}, VisitTimes: []string{}, ExemptFrom: []string{}, Others: []*status.Check{},
	}
	if policy == nil {
		policy = current.Origins().Pending()
	}
	decision := new(enforce.Decision)
	policy.CheckFirst(request, nil, decision)
	if query.Client == "" && decision.Reason != enforce.Exempt {
		for _, prefix := range policy.ExemptFrom(&decision.Agent) {
			check.ExemptFrom = append(check.ExemptFrom, prefix.String())
		}
		check.ExemptFrom = check.ExemptFrom[:min(len(check.ExemptFrom), status.MaxExemptFrom)]
	}
	fillCheck(check, decision, policy, current.monitor, &h.Settings)
	return check
}

// splitURL returns the request target and the origin of a URL.
func splitURL(raw string) (target string, origin enforce.Origin, err error) {
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
	port := uint16(80)
	if u.Scheme == "https" {
		port = 443
	}
	if text := u.Port(); text != "" {
		n, err := net.LookupPort("tcp", text)
		if err != nil {
			return "", origin, badRequest("url=%.200q has no valid port", raw)
		}
		port = uint16(n)
	}
	return target, enforce.NewOrigin(u.Scheme, u.Host, port), nil
}

// caller returns an enforce.Caller for a read of robots.txt that no request
// causes.
func (h *siteHandler) caller(origin enforce.Origin) enforce.Caller {
	if h.Server == nil {
		return nil
	}
	r, err := http.NewRequest(http.MethodGet, origin.String()+"/robots.txt", nil)
	if err != nil {
		return nil
	}
	vars := make(map[string]any)
	switch {
	case origin.Scheme != "https":
	case h.Server.TrustsProxies() && !h.Server.HasTLS(): // a proxy terminates TLS
		r.Header.Set("X-Forwarded-Proto", "https")
		vars[caddyhttp.TrustedProxyVarKey] = true
	default:
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: origin.Host}
	}
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)}
	ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, local)
	ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, vars)
	return &exchange{r: r.WithContext(ctx), handler: h.Handler, server: h.Server.Live, Request: enforce.Request{Origin: origin}}
}

// fillCheck copies a decision into c.
func fillCheck(c *status.Check, d *enforce.Decision, policy *enforce.Rules, monitor bool, s *config.Settings) {
	c.State = policy.Outcome().String()
	c.Action, c.Reason = counters.ActionName(d.Action, monitor), d.Reason.String()
	c.Crawler, c.Class, c.Evidence, c.Verified = d.Name(), d.Agent.Class.String(), d.Agent.Reason.Strength().String(), d.Claim.State.String()
	if d.Agent.Crawler != nil {
		c.Purpose = string(d.Agent.Crawler.Purpose)
	}
	c.Group, c.Rule, c.Layer, c.Line, c.File = d.GroupToken(), d.RuleText(), d.Layer.String(), d.Line, d.File()
	if d.Reading != 0 {
		c.Reading = d.Reading.String()
	}
	if d.Limits != nil {
		fillPace(c, d, s)
	}
	c.Message = checkMessage(c)
}

// fillPace copies the rate limits of a decision's group into c.
func fillPace(c *status.Check, d *enforce.Decision, s *config.Settings) {
	most := throttle.DefaultMaxDelay
	if s.CrawlDelay != nil && s.CrawlDelay.Max != 0 {
		most = time.Duration(s.CrawlDelay.Max)
	}
	if delay, ok := d.Group.CrawlDelay(); ok {
		c.CrawlDelay = min(delay.Delay, most).Seconds()
	}
	for _, rate := range d.Group.RequestRates() {
		c.RequestRates = append(c.RequestRates, rate.String())
	}
	for _, visit := range d.Group.VisitTimes() {
		c.VisitTimes = append(c.VisitTimes, visit.Window.String())
	}
}

// checkMessage describes a decision in a sentence.
func checkMessage(c *status.Check) string {
	client := c.Crawler
	if client == "" {
		client = "a client without a User-Agent"
	}
	line := ""
	if c.Line != 0 {
		switch c.Layer {
		case enforce.FileLayer.String():
			line = fmt.Sprintf(", line %d of robots.txt", c.Line)
		default:
			line = fmt.Sprintf(", line %d of %s (%s)", c.Line, cmp.Or(c.File, "the configuration"), c.Layer)
		}
	}
	switch c.Reason {
	case enforce.Person.String():
		return "This User-Agent is a person's, or no rule applies to it: the request would pass."
	case enforce.RulesPending.String():
		return client + " would have to wait, because robots.txt was not read yet."
	case enforce.Hidden.String():
		return client + " would be denied: the path is hidden" + line + "." + exemptMessage(c)
	}
	verb := map[string]string{
		"pass": "would pass", "deny": "would be denied", "throttle": "would be throttled",
		"would_deny": "would be denied in enforce mode", "would_throttle": "would be throttled in enforce mode",
	}[c.Action]
	sentence := client + " " + verb + ": " + strings.ReplaceAll(c.Reason, "_", " ") + line
	if c.Rule != "" {
		sentence += ", " + c.Rule
	}
	if c.CrawlDelay > 0 {
		sentence += fmt.Sprintf("; at most one request in %gs", c.CrawlDelay)
	}
	return sentence + "." + exemptMessage(c)
}

// exemptMessage says for which addresses a crawler is exempt.
func exemptMessage(c *status.Check) string {
	const most = 3
	switch n := len(c.ExemptFrom); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf(" It is exempt for requests from %s and %d more: add the client's address to check that.", strings.Join(c.ExemptFrom[:most], ", "), n-most)
	}
	return " It is exempt for requests from " + strings.Join(c.ExemptFrom, ", ") + ": add the client's address to check that."
}
