package judge

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Request has the properties of an HTTP request that a decision can depend on.
type Request struct {
	Method     string   // "" means GET
	Target     string   // the request target as received: path and query, or in absolute form
	UserAgents []string // the values of all User-Agent fields
	Brands     []string // the values of all Sec-CH-UA fields
	Origin     Origin
	Client     string    // the client's IP address without port; "" if it is not known
	Time       time.Time // when the request arrived; see throttle.Clock

	// Authorized reports that the request has an Authorization field.
	Authorized bool

	// Invented reports that no host matcher of the site names the host: the host
	// matches only a pattern such as *.example.com, or the site serves any host.
	// So a client can make up any number of such hosts, and what is remembered
	// about them is forgotten first. Site is that pattern, or "" for any host.
	Invented bool
	Site     string

	// Mode takes the place of Settings.Monitor and Except, unless it is nil. It must be
	// made for Settings.Registry.
	Mode *Mode

	// Ambiguous reports that Client may not be the client's own address: it may
	// be the address of a proxy, or the client may have written it to a header
	// field itself. Such an address neither verifies nor refutes a claim.
	Ambiguous bool
	// Assumed reports that Client is the address of a client that has sent no
	// request, as in a check by the site's operator. The address counts for
	// Exemption.From, but does not verify or refute a claim, which could need
	// the network.
	Assumed bool
	// Proxied reports that the request came through a trusted proxy.
	Proxied bool
	// Signed has the parts of the request that a signature can cover; nil if the
	// request has no signature.
	Signed *claim.Message

	// Caller is the server that received the request. It may be nil if the
	// source does not need values from the request's context.
	Caller Caller

	signature claim.Result     // of Signed, which is checked once: a second check would take it for a replay
	signer    *crawler.Crawler // the crawler that the signature proves; nil if none
}

// Caller is the server that received a request.
type Caller interface {
	// Detach returns a context for fetching a robots.txt in the background. The
	// context must not be cancelled when the request ends. It may have values
	// for the source. The engine calls Detach on the goroutine of the request,
	// and only when a fetch begins.
	Detach() context.Context
	// HidesClient reports whether a proxy forwarded the request, and
	// Request.Client may not be the address of the client behind it. It is false
	// for a request of the proxy itself, such as a health check.
	HidesClient() bool
}

// maxUserAgents is how many User-Agent fields of a request are read. A
// client that sends more counts as a crawler.
const maxUserAgents = 16

// noUserAgent takes the place of the User-Agent fields of a request that has
// none.
var noUserAgent = []string{""}

// fields returns the User-Agent fields to read, and whether there are more than
// maxUserAgents.
func (r *Request) fields() (fields []string, tooMany bool) {
	switch {
	case len(r.UserAgents) == 0:
		return noUserAgent, false
	case len(r.UserAgents) > maxUserAgents:
		return r.UserAgents[:maxUserAgents], true
	}
	return r.UserAgents, false
}

// IsRobotsTxt reports whether a request target is /robots.txt, with or without
// a query, in origin form or absolute form.
func IsRobotsTxt(target string) bool {
	return !(len(target) > 1 && target[0] == '/' && target[1] != 'r') && isRobotsTxt(target)
}

// isRobotsTxt is IsRobotsTxt for the few targets that may be it.
func isRobotsTxt(target string) bool {
	rest, found := strings.CutPrefix(canonical.OriginForm(target), "/robots.txt")
	return found && (rest == "" || rest[0] == '?')
}

// Reads reports whether the method of a request only reads.
func (r *Request) Reads() bool {
	return r.Method == "" || r.Method == http.MethodGet || r.Method == http.MethodHead
}

// Excuse lets a request pass that d refuses, with a reason of NoCrawling, if the group for
// `*` or the lack of rules is why it is refused, and reports whether it did. Crawlers and
// scrapers of the registry are held whatever they send.
func (c *Client) Excuse(d *Decision, why Reason) bool {
	class, settings := d.Agent.Class, c.rules.settings
	if class == crawler.Registered || class == crawler.Scraper || settings.Strict || len(c.Agents()) != 1 || len(c.before) > 0 {
		return false
	}
	switch d.Reason {
	case Disallowed, CrawlDelay, RequestRate, VisitTime:
		if d.Group != c.rules.file.Star() {
			return false
		}
	case RulesPending, Unavailable:
	default:
		return false
	}
	*d = Decision{Reason: why, Rules: d.Rules, Addr: d.Addr, Monitored: d.Monitored, Subject: Subject{Agent: d.Agent, Claim: d.Claim}}
	d.Bound = c.isBound(&d.Agent, why)
	return true
}

// IsNoCrawling reports whether the request of a self-declared robot is no
// crawling: it has credentials, or it changes something. A script that calls the
// site's API can declare itself by a contact address, as good manners ask.
func (r *Request) IsNoCrawling(a *crawler.Agent) bool {
	if a.Class != crawler.SelfDeclared {
		return false
	}
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return r.Authorized
}
