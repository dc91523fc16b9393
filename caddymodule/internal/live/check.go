package live

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
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
	deciders, err := r.deciders(candidates, origin, target, &query)
	if err != nil {
		return nil, badRequest("url=%.200q: %v", query.URL, err)
	}
	if len(deciders) == 0 {
		check := newCheck(&query, origin)
		check.Site, check.Certain, check.Action, check.Reason = candidates[0].SiteOf(origin.Host), true, enforce.Pass.String(), statusapi.ReasonNoHandler
		check.Message = "No robots handler decides about this URL, because of the request matchers: the request would pass."
		return check, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	more := max(0, len(deciders)-1-statusapi.MaxCheckOthers)
	checks := make([]*statusapi.Check, len(deciders)-more)
	for i := range checks {
		checks[i] = deciders[i].check(ctx, r.app.Now(), target, &query)
	}
	return combine(checks, more), nil
}

func newCheck(query *statusapi.CheckQuery, origin enforce.Origin) *statusapi.Check {
	return &statusapi.Check{
		URL: query.URL, UserAgent: query.UserAgent, Origin: origin.String(),
		RequestRates: []string{}, VisitTimes: []string{}, ExemptFrom: []string{}, Others: []*statusapi.Check{},
	}
}

// check returns the decision of the handler.
func (d *decider) check(ctx context.Context, now time.Time, target string, query *statusapi.CheckQuery) *statusapi.Check {
	engine, monitor := d.Running()
	origins := engine.Origins()
	request := &enforce.Request{
		Method: http.MethodGet, Target: target, UserAgents: []string{query.UserAgent}, Origin: d.origin, Client: query.Client, Assumed: true,
		Time: now, Caller: d.Caller(d.origin),
	}
	request.Site, request.Invented = d.Invented(d.origin.Host)
	rules := origins.Peek(request)
	if rules == nil {
		rules = origins.Wait(ctx, request)
	}
	if rules == nil {
		rules = origins.Pending()
	}
	var decision enforce.Decision
	rules.CheckFirst(request, nil, &decision)
	c := newCheck(query, d.origin)
	c.Site, c.OriginID = d.SiteOf(d.origin.Host), d.originID(origins.Key(d.origin), !origins.PerOrigin())
	c.State, c.Matcher, c.Certain = rules.Outcome().String(), d.Reached.Route.Matcher(), d.Reach == routes.Surely
	if query.Client == "" && decision.Reason != enforce.Exempt {
		for _, prefix := range rules.ExemptFrom(&decision.Agent) {
			c.ExemptFrom = append(c.ExemptFrom, prefix.String())
		}
		c.ExemptFrom = c.ExemptFrom[:min(len(c.ExemptFrom), statusapi.MaxExemptFrom)]
	}
	d.fillCheck(c, &decision, monitor)
	return c
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
	port, err := net.LookupPort("tcp", cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	if err != nil {
		return "", origin, badRequest("url=%.200q has no valid port", raw)
	}
	return target, enforce.NewOrigin(u.Scheme, u.Host, uint16(port)), nil
}

// fillCheck copies a decision of the handler into c.
func (h *Handler) fillCheck(c *statusapi.Check, d *enforce.Decision, monitor bool) {
	c.Action, c.Reason = counters.ActionName(d.Action, monitor), d.Reason.String()
	c.Crawler, c.Class, c.Evidence, c.Verified = d.Name(), d.Agent.Class.String(), d.Agent.Reason.Strength().String(), d.Claim.State.String()
	if d.Agent.Crawler != nil {
		c.Purpose = string(d.Agent.Crawler.Purpose)
	}
	c.Group, c.Rule, c.Layer, c.Line, c.File = d.Group.Token(), d.RuleText(), d.Layer.String(), d.Line, d.File()
	if d.Reading != 0 {
		c.Reading = d.Reading.String()
	}
	if d.Limits != nil {
		if delay, ok := d.Group.CrawlDelay(); ok {
			c.CrawlDelay = min(delay.Delay, h.maxDelay()).Seconds()
		}
		for _, rate := range d.Group.RequestRates() {
			c.RequestRates = append(c.RequestRates, rate.String())
		}
		for _, visit := range d.Group.VisitTimes() {
			c.VisitTimes = append(c.VisitTimes, visit.Window.String())
		}
	}
	c.Message = checkMessage(c)
}

// checkMessage describes a decision in a sentence.
func checkMessage(c *statusapi.Check) string {
	client := cmp.Or(c.Crawler, "a client without a User-Agent")
	line := ""
	switch {
	case c.Line == 0:
	case c.Layer == enforce.FileLayer.String():
		line = fmt.Sprintf(", line %d of robots.txt", c.Line)
	default:
		line = fmt.Sprintf(", line %d of %s (%s)", c.Line, cmp.Or(c.File, "the configuration"), c.Layer)
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
func exemptMessage(c *statusapi.Check) string {
	const most = 3
	list := strings.Join(c.ExemptFrom[:min(len(c.ExemptFrom), most)], ", ")
	switch n := len(c.ExemptFrom); {
	case n == 0:
		return ""
	case n > most:
		list += fmt.Sprintf(" and %d more", n-most)
	}
	return " It is exempt for requests from " + list + ": add the client's address to check that."
}
