package caddymodule

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
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
	target, origin, err := splitURL(query.URL)
	if err != nil {
		return nil, err
	}
	h, origin := r.handlerFor(scope, origin)
	if h == nil {
		return nil, status.Errorf(http.StatusNotFound, "no robots handler that you may see serves %s", origin.Host)
	}
	current := h.running.Load()
	request := &enforce.Request{
		Method: http.MethodGet, Target: target, UserAgents: []string{query.UserAgent}, Origin: origin, Time: clock.Now(), Caller: h.caller(origin),
	}
	request.Site, request.Invented = h.invented(origin.Host)
	policy := current.Policies().Peek(request)
	if policy == nil {
		ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
		defer cancel()
		policy = current.Policies().Wait(ctx, request)
	}
	check := &status.Check{
		URL: query.URL, UserAgent: query.UserAgent, Site: h.siteOf(origin.Host), Origin: origin.String(),
		Policy: h.policyID(current.Policies().Key(origin), !current.Policies().PerOrigin()), State: enforce.Pending.String(),
		RequestRates: []string{}, VisitTimes: []string{},
	}
	if policy == nil {
		policy = current.Policies().Unread()
	}
	d := new(enforce.Decision)
	enforce.CheckAgent(policy.Check, request, d)
	d.PaceFirst(request.Time)
	fillCheck(check, d, policy, current.monitor, &h.Settings)
	return check, nil
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

// handlerFor returns the handler that serves an origin, and the origin with the
// port of the handler's listener, which may differ from the port of a URL. It
// prefers the handler whose site names the host.
func (r *reporter) handlerFor(scope status.Scope, origin enforce.Origin) (best *siteHandler, held enforce.Origin) {
	rank, held := 0, origin
	for _, h := range r.in(scope) {
		if !h.serves(origin.Host) || !scope.Host(h.siteOf(origin.Host), origin.Host) {
			continue
		}
		own := origin
		points := 1
		for _, site := range h.sites {
			switch {
			case site == origin.Host:
				points = max(points, 16)
			case site != status.AnySite:
				points = max(points, 8)
			}
		}
		if h.facts != nil {
			if h.facts.port == origin.Port {
				points += 4
			}
			if h.hasScheme(origin.Scheme) {
				points += 2
			}
			if own.Port = h.facts.port; own.Port == 0 {
				own.Port = origin.Port
			}
		}
		if points > rank {
			best, rank, held = h, points, own
		}
	}
	return best, held
}

// caller returns an enforce.Caller for a read of robots.txt that no request
// causes.
func (h *siteHandler) caller(origin enforce.Origin) enforce.Caller {
	if h.handlerSite.server == nil {
		return nil
	}
	r, err := http.NewRequest(http.MethodGet, origin.String()+"/robots.txt", nil)
	if err != nil {
		return nil
	}
	if origin.Scheme == "https" {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: origin.Host}
	}
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)}
	ctx := context.WithValue(r.Context(), http.LocalAddrContextKey, local)
	ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{})
	return &exchange{r: r.WithContext(ctx), handler: h.Handler, server: h.handlerSite.server, Request: enforce.Request{Origin: origin}}
}

// fillCheck copies a decision into c.
func fillCheck(c *status.Check, d *enforce.Decision, policy *enforce.Policy, monitor bool, s *Settings) {
	c.State = policy.Outcome().String()
	c.Action, c.Reason = counters.ActionName(d.Action, monitor), d.Reason.String()
	c.Crawler, c.Class, c.Evidence, c.Verified = d.Name(), d.Agent.Class.String(), d.Agent.Reason.Strength().String(), d.Claim.State.String()
	if d.Agent.Crawler != nil {
		c.Purpose = string(d.Agent.Crawler.Purpose)
	}
	c.Group, c.Rule, c.Layer, c.Line = d.GroupToken(), d.RuleText(), d.Layer.String(), d.Line
	if d.Reading != 0 {
		c.Reading = d.Reading.String()
	}
	if d.Terms != nil {
		fillPace(c, d, s)
	}
	c.Message = checkMessage(c)
}

// fillPace copies the rate limits of a decision's group into c.
func fillPace(c *status.Check, d *enforce.Decision, s *Settings) {
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
		case enforce.SiteLayer.String():
			line = fmt.Sprintf(", line %d of robots.txt", c.Line)
		default:
			line = fmt.Sprintf(", line %d of the configuration (%s)", c.Line, c.Layer)
		}
	}
	switch c.Reason {
	case enforce.Person.String():
		return "This User-Agent is a person's, or no rule applies to it: the request would pass."
	case enforce.PolicyPending.String():
		return client + " would have to wait, because robots.txt was not read yet."
	case enforce.Hidden.String():
		return client + " would be denied: the path is hidden" + line + "."
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
	return sentence + "."
}
