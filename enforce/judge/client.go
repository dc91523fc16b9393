package judge

import (
	"net/netip"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Client is who sent a request: the crawlers that it claims to be, and what is known
// about them. Begin and Next fill it in; the zero value is ready for that.
type Client struct {
	rules   *Rules
	request *Request

	fields  []string         // the User-Agent fields that identify has not read yet
	tooMany bool             // the request has more fields than are read
	brands  []string         // the Sec-CH-UA fields that identify has not read yet
	signer  *crawler.Crawler // the crawler that a signature proves; nil if none
	unnamed bool             // no field so far has named the signer

	verification *Verification // nil without

	identified
	before []identified // by earlier User-Agent fields; nil unless several name crawlers
	addr   netip.Addr   // of the client; set only if the settings use more than the User-Agent

	robotsTxt bool          // the request is for /robots.txt
	views     *robots.Views // of the request's path; set by Judge, but not for /robots.txt
}

// identified has the crawlers that one User-Agent field names, or that a signature
// proves.
type identified struct {
	field  string           // that names them
	id     crawler.Identity // unless extra is set
	extra  []crawler.Agent
	claims [crawler.MaxAgents]claim.Result // the results of verification, one for each agent

	// The caller of Next sets what it remembers about these crawlers.
	// Earlier are earlier versions of the file. Bit j of MayHold[i] says that agent i
	// may follow version j.
	Earlier []Version
	MayHold [crawler.MaxAgents]uint8
}

// cachedIdentities is how many User-Agents the cache holds. They take about 4
// MB if all are those of browsers.
const cachedIdentities = 1 << 16

// identities is one cache for all engines, because there may be many sites, and
// they get requests with the same User-Agents.
var identities = sync.OnceValue(func() *crawler.Cache { return crawler.NewCache(cachedIdentities) })

// tooManyFields is the agent of a request with more than maxUserAgents fields.
var tooManyFields = []crawler.Agent{{Class: crawler.SelfDeclared, Token: "several-user-agents", Reason: crawler.ManyFields}}

// Begin prepares c for a request and the rules in force for it. A signature of the
// request is checked.
func (c *Client) Begin(r *Request, rules *Rules) {
	c.BeginUnverified(r, rules)
	c.verification = rules.settings.Verification
	if r.Signed != nil && c.verification != nil && r.signature == (claim.Result{}) {
		c.rules.identify(c.fields[0], &c.id)
		var claim *crawler.Crawler
		if c.id.Len() > 0 {
			claim = c.id.At(0).Crawler
		}
		r.signer, r.signature = c.verification.Checker.Signature(r.Signed, claim, r.Time)
		c.id = crawler.Identity{}
	}
	c.signer, c.unnamed = r.signer, r.signer != nil
}

// BeginUnverified is like Begin, but c verifies nothing: every claim is believed.
func (c *Client) BeginUnverified(r *Request, rules *Rules) {
	c.request, c.rules, c.robotsTxt = r, rules, IsRobotsTxt(r.Target)
	c.fields, c.tooMany = r.fields()
	c.brands = r.Brands[:min(len(r.Brands), maxUserAgents)]
}

// IsPerson reports whether the client seems to be a person: nothing names a crawler.
func (c *Client) IsPerson() bool { return len(c.Agents()) == 0 && len(c.before) == 0 }

// Next finds the crawlers that the next User-Agent field names, with the first one also those of the brands, and verifies that the
// client is one of them. After the last field follows the crawler that a signature
// proves, if no field has named it. Next returns false if there is nothing left.
// Judge decides about all that were found.
func (c *Client) Next() bool {
	if len(c.fields) == 0 && !c.unnamed && !c.tooMany {
		return false
	}
	if len(c.Agents()) > 0 {
		c.before = append(c.before, c.identified)
		c.identified = identified{}
	}
	for len(c.fields) > 0 {
		c.rules.identify(c.fields[0], &c.id)
		c.addBrands()
		if c.field, c.fields = c.fields[0], c.fields[1:]; c.id.Len() > 0 {
			c.verify()
			return true
		}
	}
	switch {
	case c.unnamed:
		c.unnamed, c.addr = false, c.request.Addr()
		c.extra = []crawler.Agent{signedAgent(c.signer)}
		c.claims[0] = claim.Result{State: claim.Verified, Method: claim.SignatureMethod}
	case c.tooMany:
		c.tooMany = false
		c.extra, c.claims[0] = tooManyFields, claim.Result{}
	default:
		return false
	}
	return true
}

// addBrands adds once the crawlers that the brands name, each like a User-Agent with its token.
func (c *Client) addBrands() {
	brands := c.brands
	c.brands = nil
	for _, field := range brands {
		for {
			var token string
			if token, field = c.rules.settings.Registry.Brand(field); token == "" {
				break
			}
			var named crawler.Identity
			c.rules.identify(token, &named)
			c.id.Add(&named)
		}
	}
}

// Agents returns the crawlers that Next found. Their Class may be changed.
func (n *identified) Agents() []crawler.Agent {
	if n.extra != nil {
		return n.extra
	}
	return n.id.Agents()
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

// Addr returns the address of a request's client, or the zero Addr if it
// is not known.
func (r *Request) Addr() (addr netip.Addr) {
	if r.Client != "" { // for "", ParseAddr would allocate an error
		addr, _ = netip.ParseAddr(r.Client)
	}
	return addr
}

// SiteName returns the host of a request, or the pattern of its site for a host that anybody
// can invent: otherwise each such host would allow a client more.
func (r *Request) SiteName() string {
	if r.Invented {
		return r.Site
	}
	return r.Origin.Host
}

// ReadsRobotsTxt reports whether the request is for /robots.txt.
func (c *Client) ReadsRobotsTxt() bool { return c.robotsTxt }

// Claim returns what verification says about agent i.
func (c *Client) Claim(i int) claim.State { return c.claims[i].State }

// Agent returns the crawler with a name or product token: a crawler of the
// registry or, if the registry has none, a probe, a crawler that a group of rules
// names, or else a self-declared crawler with that token.
func (s *Compiled) Agent(name string, rules *Rules) crawler.Agent {
	if row := s.Registry.Lookup(name); row != nil {
		return signedAgent(row)
	}
	var id crawler.Identity
	identities().Identify(s.base, name, &id)
	for i := range id.Len() {
		if a := id.At(i); a.Crawler != nil || a.Class == crawler.Probe {
			return *a
		}
	}
	a := crawler.Agent{Class: crawler.SelfDeclared, Token: name}
	if rules != nil && rules.file.Named(name) != nil {
		a.Class = crawler.Named
	}
	return a
}
