package enforce

import (
	"net/netip"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Client is who sent a request: the crawlers that it claims to be, and what is known
// about them. Engine.Identify fills it in; the zero value is ready for that.
type Client struct {
	// Suspect says that the client behaves like a robot, although its User-Agent
	// names none. The path rules of the group for `*` apply to it. The caller of
	// Identify may set it.
	Suspect bool

	rules   *Rules
	request *Request

	fields  []string         // the User-Agent fields that identify has not read yet
	tooMany bool             // the request has more fields than are read
	signer  *crawler.Crawler // the crawler that a signature proves; nil if none
	unnamed bool             // no field so far has named the signer

	verification *Verification // nil without

	identified
	before []identified // by earlier User-Agent fields; nil unless several name crawlers
	addr   netip.Addr   // of the client; set only if the settings use more than the User-Agent

	robotsTxt bool          // the request is for /robots.txt
	views     *robots.Views // of the request's path; nil before readPath, and for /robots.txt
}

// identified has the crawlers that one User-Agent field names, or that a signature
// proves.
type identified struct {
	field  string           // that names them
	id     crawler.Identity // unless extra is set
	extra  []crawler.Agent
	claims [crawler.MaxAgents]verify.Result // the results of verification, one for each agent

	// What the engine remembers; see Engine.recall.
	readRobots bool                          // the client is a program that has read the robots.txt in the last 24 hours; see ProgramsSeen
	history    *history                      // with earlier versions of the file; nil if there is none that the client may follow
	visits     [crawler.MaxAgents]visitTimes // one for each agent, if there is a history; zero for an agent without a grace period
}

// cachedIdentities is how many User-Agents the cache holds. They take about 4
// MB if all are those of browsers.
const cachedIdentities = 1 << 16

// identities is one cache for all engines, because there may be many sites, and
// they get requests with the same User-Agents.
var identities = sync.OnceValue(func() *crawler.Cache { return crawler.NewCache(cachedIdentities) })

// tooManyFields is the agent of a request with more than maxUserAgents fields.
var tooManyFields = []crawler.Agent{{Class: crawler.SelfDeclared, Token: "several-user-agents", Reason: crawler.ManyFields}}

// Identify finds the crawlers that a User-Agent names, by the tokens of the
// registry and of the file, and writes them to id. It allocates nothing for a
// User-Agent that is in the cache.
func (p *Rules) identify(userAgent string, id *crawler.Identity) {
	identities().Identify(p.matcher, userAgent, id)
}

// begin sets the request of c.
func (c *Client) begin(r *Request) {
	c.request, c.robotsTxt = r, IsRobotsTxt(r.Target)
	c.fields, c.tooMany = r.fields()
}

// IsPerson reports whether the client seems to be a person: nothing names a crawler.
func (c *Client) IsPerson() bool { return len(c.agents()) == 0 && len(c.before) == 0 }

// identify finds the crawlers that the next User-Agent field names, and verifies
// that the client is one of them. After the last field follows the crawler that
// a signature proves, if no field has named it. identify returns false if there
// is nothing left.
func (c *Client) identify() bool {
	for len(c.fields) > 0 {
		c.rules.identify(c.fields[0], &c.id)
		if c.field, c.fields = c.fields[0], c.fields[1:]; c.id.Len() > 0 {
			c.verify()
			c.readPath()
			return true
		}
	}
	switch {
	case c.unnamed:
		c.unnamed, c.addr = false, clientAddr(c.request)
		c.extra = []crawler.Agent{signedAgent(c.signer)}
		c.claims[0] = verify.Result{State: verify.Verified, Method: verify.SignatureMethod}
	case c.tooMany:
		c.tooMany = false
		c.extra, c.claims[0] = tooManyFields, verify.Result{}
	default:
		return false
	}
	c.readPath()
	return true
}

// readPath prepares the views of the request's path for judge.
func (c *Client) readPath() {
	if c.views == nil && !c.robotsTxt {
		c.views = c.rules.settings.viewsOf(c.request.Target)
	}
}

// finish completes a decision about the client.
func (c *Client) finish(d *Decision) {
	if c.views != nil {
		views.Put(c.views)
		c.views = nil
	}
	d.Rules, d.addr = c.rules, c.addr
	if d.Reason == Person && c.Suspect {
		c.judgeSuspect(d)
	}
	d.Monitored = c.rules.settings.monitors(&d.Agent)
}

// mayNameMore reports whether identify may find more crawlers.
func (c *Client) mayNameMore() bool { return len(c.fields) > 0 || c.unnamed || c.tooMany }

// agents returns the crawlers that identify found.
func (c *Client) agents() []crawler.Agent {
	if c.extra != nil {
		return c.extra
	}
	return c.id.Agents()
}

// signedAgent returns a crawler of the registry as an agent that no User-Agent
// names, such as one that a signature proves.
func signedAgent(row *crawler.Crawler) crawler.Agent {
	a := crawler.Agent{Class: row.Class, Crawler: row, Token: row.Name}
	if tokens := row.Tokens(); len(tokens) > 0 {
		a.Token = tokens[0]
	}
	return a
}

// clientAddr returns the address of a request's client, or the zero Addr if it
// is not known.
func clientAddr(r *Request) (addr netip.Addr) {
	if r.Client != "" { // for "", ParseAddr would allocate an error
		addr, _ = netip.ParseAddr(r.Client)
	}
	return addr
}
