package challenge

import (
	"hash/maphash"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Arrival is what a request has brought. The zero value is one that has brought nothing.
type Arrival struct {
	pending
	verdict Verdict
	bearer  bearer
	address uint64 // key of the address (IPv4 /32, IPv6 /64) at this site; 0 until identify
	group   uint64 // of what counts as one address at this site (IPv4 /32, IPv6 /48)
	place   uint64 // of the network (/24, /48) at this site
	network uint64 // of the network
	given   bool   // the URL had the parameter
	pressed bool   // by a press of the button
	formed  bool   // the parameter has the form of a token
	once    bool   // the page may be shown this time, to a client that keeps no cookie
	token   token  // of the parameter, if it is our own
	pass    token  // of the cookie, if it is good here
	memory  *pass  // of the pass
	renews  bool   // the answer may renew it
	isNew   bool   // nobody has come with the pass before
	isBack  bool   // a client comes back with it for the first time
	page    token  // of the page that answers the request
	alone   bool   // the page has the button alone
	noStore bool   // the client came back without the cookie
	wait    time.Duration
}

// IsFreed reports whether somebody has pressed the button of the page: with this request, or
// before.
func (a *Arrival) IsFreed() bool { return a.pressed || a.once || a.pass.kind == passByButton }

// isSameOrigin reports whether a page of the same origin caused a request, as far as the
// browser says.
func isSameOrigin(r *http.Request) bool {
	return !slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" })
}

// Reference returns the characters by which the page names the check; "" if there is none.
func (a *Arrival) Reference() string {
	if a.page.at == 0 {
		return ""
	}
	return a.page.reference()
}

// Ask makes the page with the button alone the answer to the request.
func (a *Arrival) Ask(now time.Time) { a.alone, a.page = true, newToken(now) }

// Receive takes the parameter and the cookie from a request, before anything else looks
// at it.
func (c *Check) Receive(a *Arrival, q *judge.Request, r *http.Request) {
	text, given := takeParameter(q, r)
	cookies := takeCookie(r, q.Origin.Scheme == "https")
	a.bearer.origin = q.Origin
	if len(q.UserAgents) > 0 {
		a.bearer.userAgent = q.UserAgents[0]
	}
	if a.given = given; !given && len(cookies) == 0 {
		return
	}
	c.identify(a, q)
	a.bearer.target = q.Target
	keys := *c.memory.ring.Load()
	if given {
		a.formed = len(text) == tokenLen
		a.token = keys.open(text, &a.bearer)
		if a.token.kind == 0 {
			a.token = claimedOpen(text)
		}
		a.pressed = q.Method == http.MethodPost && a.token.kind == buttonToken && a.token.isFresh(q.Time, buttonLife) && isSameOrigin(r)
	}
	for _, cookie := range cookies {
		if a.memory == nil {
			c.receivePass(a, keys, cookie, q.Time)
		}
	}
	if q.Reads() && a.memory == nil && a.token.kind == pageToken && a.token.isFresh(q.Time, tokenLife) {
		if p := c.memory.pass(a.token); p.showOnce() {
			a.once, a.memory = true, p
		}
	}
}

// receivePass reads the cookie.
func (c *Check) receivePass(a *Arrival, keys ring, cookie string, now time.Time) {
	t := keys.open(cookie, &a.bearer)
	if !t.kind.isPass() || !t.isFresh(now, t.life(c.For)) {
		return
	}
	p := c.memory.pass(t)
	if good, isNew, isBack := p.from(a.network, uint32(now.Unix())); good {
		a.pass, a.memory, a.isNew, a.isBack = t, p, isNew, isBack
	}
}

// identify fills in the address, unless that is done.
func (c *Check) identify(a *Arrival, q *judge.Request) {
	if a.address != 0 {
		return
	}
	a.bearer.addr, _ = netip.ParseAddr(q.Client)
	site := maphash.String(c.memory.seed, q.SiteName()) + uint64(q.Origin.Port)
	key := func(what uint64) uint64 { return max(1, maphash.Comparable(c.memory.seed, [2]uint64{site, what})) }
	a.network = maphash.Comparable(c.memory.seed, visible.Network(a.bearer.addr))
	a.address = key(maphash.Comparable(c.memory.seed, netaddr.Client(a.bearer.addr)))
	a.place, a.group = key(a.network), a.address
	if netaddr.Unmap(a.bearer.addr).Is6() {
		a.group = a.place
	}
}

// visitor returns what is remembered of an address, a network or a name, by its key.
func (m *Memory) visitor(key uint64, now uint32) (v *visitor, isNew bool) {
	v = m.visitors.Get(key)
	isNew = v == nil
	if isNew {
		v = m.visitors.Add(key, (*visitor).worth, nil)
	}
	if v.seen.Load() != now {
		v.seen.Store(now)
	}
	return v, isNew
}

// clientOf returns what is remembered of an address with a User-Agent.
func (c *Check) clientOf(a *Arrival, r *http.Request, now uint32) *client {
	v := c.memory.clients.Add(c.clientKey(a, r), (*client).worth, nil)
	if v.seen.Load() != now {
		v.seen.Store(now)
	}
	return v
}

// pass returns what is remembered of a pass.
func (m *Memory) pass(t token) *pass {
	return m.passes.Add(max(1, maphash.Bytes(m.seed, t.id[:])), (*pass).worth, func(p *pass) { p.seen = t.at })
}
