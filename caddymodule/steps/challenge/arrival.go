package challenge

import (
	"hash/maphash"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/media"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Arrival is a request on its way: what it brought, what it counts as until its answer is known,
// and that answer. The zero value is one that has brought nothing.
type Arrival struct {
	*step.Exchange // nil until it is known who sends the request

	check   *Check
	storm   *Storm // nil if the answer makes no difference
	now     uint32 // in seconds since 1970
	verdict Verdict
	bearer  bearer
	address uint64 // key of the address (IPv4 /32, IPv6 /64) at this site
	group   uint64 // of what counts as one address at this site (IPv4 /32, IPv6 /48)

	given  bool  // the URL had the parameter
	formed bool  // the parameter has the form of a token
	once   bool  // the page may be shown this time, to a client that keeps no cookie
	token  token // of the parameter, if it is our own
	pass   token // of the cookie, if it is good here
	memory *memo // of the pass, or of the page that may be shown once
	isNew  bool  // nobody has come with that before

	gives token // the pass that the client gets
	page  token // of the page that answers the request
	alone bool  // the page has the button alone
	wait  time.Duration

	matches bool        // the check is for the path
	proves  bool        // the site knows the client, if it is served
	cell    *cohortCell // of the User-Agent; nil for a client that names a crawler
	counted counted
	taken   [2]taken // pages of bounds; the first takes are used
	takes   int

	head    response.Head
	reached bool // the request has reached the next handler
	status  int  // of the answer; 0 if none was set
	media   media.Kind
}

// arrival returns the Arrival of a request, and finds out who sends it.
func (c *Check) arrival(x *step.Exchange) *Arrival {
	a, q := c.slot.Of(x), &x.Request
	if a.Exchange != nil {
		return a
	}
	a.Exchange, a.check, a.now, a.bearer = x, c, uint32(q.Time.Unix()), bearerOf(q)
	if len(q.UserAgents) > 0 {
		a.bearer.userAgent = q.UserAgents[0]
	}
	key := func(of [16]byte) uint64 {
		return maphash.Comparable(c.memory.seed, memoKey{q.SiteName(), q.Origin.Port, of, c.page == nil})
	}
	a.address = key(netaddr.Client(a.bearer.addr).As16())
	a.group = a.address
	if netaddr.Unmap(a.bearer.addr).Is6() {
		a.group = key(visible.Network(a.bearer.addr).Addr().As16())
	}
	return a
}

// memoKey names an address at a site. What is only watched is counted for itself.
type memoKey struct {
	site      string
	port      uint16
	addr      [16]byte
	isWatched bool
}

// bearerOf returns the client of a request, without its User-Agent.
func bearerOf(q *judge.Request) bearer {
	return bearer{origin: q.Origin, addr: q.Addr(), target: q.Target}
}

// ofAddress returns what is remembered of what counts as one address.
func (a *Arrival) ofAddress() *memo { return a.check.memory.memo(a.group, a.now) }

// client returns the key of an address with a User-Agent. Clients that send all Sec-Fetch-* fields
// and those that do not are two: a program is not taken for the browsers at its address. Nothing is
// remembered of most: a robot can invent any number of User-Agents.
func (a *Arrival) client() uint64 {
	key := a.address ^ maphash.String(a.check.memory.seed, a.bearer.userAgent)
	if fetchFields(a.HTTP) < 3 {
		key++
	}
	return key
}

// ofClient returns what is remembered of an address with a User-Agent, so that it can be changed.
func (a *Arrival) ofClient() *memo { return a.check.memory.memo(a.client(), a.now) }

// Strip implements step.Stripper: it takes the parameter and the cookie from a request.
func (c *Check) Strip(x *step.Exchange, off bool) {
	q := &x.Request
	text, given := takeParameter(q, x.HTTP)
	cookies := takeCookie(x.HTTP, q.Origin.Scheme == "https")
	if off || !given && len(cookies) == 0 {
		return
	}
	a, keys := c.arrival(x), c.memory.keys()
	if given {
		a.given, a.formed, a.token = true, len(text) == tokenLen, keys.open(text, &a.bearer)
	}
	for _, cookie := range cookies {
		t := keys.open(cookie, &a.bearer)
		if a.memory == nil && t.isFresh(passToken, q.Time, c.passFor) {
			a.pass, a.memory = t, c.memory.pass(t, a.now)
			a.isNew = !a.memory.used.Swap(true)
		}
	}
	if q.Reads() && a.memory == nil && a.token.isFresh(pageToken, q.Time, tokenLife) {
		m := c.memory.pass(a.token, a.now)
		a.once = !m.used.Swap(true)
		if a.once {
			a.isNew, a.memory = true, m
		}
	}
}
