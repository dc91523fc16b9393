package challenge

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Arrival is what a request has brought. The zero value is one that has brought nothing.
type Arrival struct {
	pending
	verdict Verdict
	bearer  bearer
	address uint64 // key of the address (IPv4 /32, IPv6 /64) at this site; 0 until identify
	group   uint64 // of what counts as one address at this site (IPv4 /32, IPv6 /48)
	given   bool   // the URL had the parameter
	pressed bool   // by a press of the button
	formed  bool   // the parameter has the form of a token
	once    bool   // the page may be shown this time, to a client that keeps no cookie
	token   token  // of the parameter, if it is our own
	pass    token  // of the cookie, if it is good here
	memory  *memo  // of the pass
	isNew   bool   // nobody has come with the pass before
	page    token  // of the page that answers the request
	alone   bool   // the page has the button alone
	noStore bool   // the client came back without the cookie
	wait    time.Duration
}

// IsFreed reports whether somebody has pressed the button of the page: with this request, or
// before.
func (a *Arrival) IsFreed() bool { return a.pressed || a.once || a.pass.kind == passByButton }

// isFrom reports whether one of some sites caused a request, as far as the browser says.
func isFrom(r *http.Request, sites ...string) bool {
	return !slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return !slices.Contains(sites, site) })
}

// Reference returns the characters by which the page names the check; "" if there is none.
func (a *Arrival) Reference() string {
	if a.page.at == 0 {
		return ""
	}
	return a.page.reference()
}

// Receive takes the parameter and the cookie from a request, before anything else looks
// at it.
func (c *Check) Receive(a *Arrival, q *judge.Request, r *http.Request) {
	text, given := takeParameter(q, r)
	cookies := takeCookie(r, q.Origin.Scheme == "https")
	if a.given = given; !given && len(cookies) == 0 {
		return
	}
	c.identify(a, q)
	a.bearer.target = q.Target
	keys, now := c.memory.keys(), uint32(q.Time.Unix())
	if given {
		a.formed = len(text) == tokenLen
		a.token = keys.open(text, &a.bearer)
		a.pressed = q.Method == http.MethodPost && a.token.kind == buttonToken && a.token.isFresh(q.Time, buttonLife) && isFrom(r, "same-origin")
	}
	for _, cookie := range cookies {
		if t := keys.open(cookie, &a.bearer); a.memory == nil && t.kind.isPass() && t.isFresh(q.Time, c.For) {
			a.pass, a.memory = t, c.memory.passOf(t, now)
			a.isNew = !a.memory.used.Swap(true)
		}
	}
	if q.Reads() && a.memory == nil && a.token.kind == pageToken && a.token.isFresh(q.Time, tokenLife) {
		if m := c.memory.passOf(a.token, now); !m.used.Swap(true) {
			a.once, a.memory = true, m
		}
	}
}

// identify fills in who the client is, unless that is done.
func (c *Check) identify(a *Arrival, q *judge.Request) {
	if a.address != 0 {
		return
	}
	a.bearer.origin = q.Origin
	if len(q.UserAgents) > 0 {
		a.bearer.userAgent = q.UserAgents[0]
	}
	a.bearer.addr, _ = netip.ParseAddr(q.Client)
	key := func(what [16]byte) uint64 {
		return max(1, maphash.Comparable(c.memory.seed, memoKey{q.SiteName(), q.Origin.Port, what}))
	}
	a.address = key(netaddr.Client(a.bearer.addr).As16())
	a.group = a.address
	if netaddr.Unmap(a.bearer.addr).Is6() {
		a.group = key(network(a.bearer.addr))
	}
}

// memoKey names an address at a site.
type memoKey struct {
	site string
	port uint16
	addr [16]byte
}

// clientKey returns the key of an address with a User-Agent. Clients that send all Sec-Fetch-*
// fields and those that do not are two: a program is not taken for the browsers at its address.
func (c *Check) clientKey(a *Arrival, r *http.Request) uint64 {
	missing := slices.ContainsFunc(fetchFields[:], func(name string) bool { return len(r.Header[name]) == 0 })
	key := a.address ^ maphash.String(c.memory.seed, a.bearer.userAgent)
	if missing {
		key++
	}
	return max(1, key)
}
