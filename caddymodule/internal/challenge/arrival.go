package challenge

import (
	"encoding/binary"
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
	bearer  bearer
	hash    uint64 // of the address at this site; 0 until identify
	network uint64 // the same of its network
	given   bool   // the URL had the parameter
	pressed bool   // by a press of the button
	formed  bool   // the parameter has the form of a token
	once    bool   // the page may be shown this time, to a client that keeps no cookie
	token   token  // of the parameter, if it is our own
	pass    token  // of the cookie, if it is good here
	memory  *pass  // of the pass
	isNew   bool   // nobody has come with the pass before
	alien   bool   // the cookie is a pass of another server
	page    token  // of the page that answers the request
	alone   bool   // the page has the button alone
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

// Wait returns after what time the client may come again.
func (a *Arrival) Wait() time.Duration { return a.wait }

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
		from := broken
		if a.token, from = keys.open(text, &a.bearer); from != own {
			a.token = claimedRefresh(text)
		}
		a.pressed = q.Method == http.MethodPost && a.token.kind == buttonToken && a.token.isFresh(q.Time, buttonLife) && isSameOrigin(r)
	}
	for _, cookie := range cookies {
		if a.memory == nil {
			c.receivePass(a, keys, cookie, q.Time)
		}
	}
	if q.Reads() && a.memory == nil && a.token.kind == pageToken && a.token.isFresh(q.Time, tokenLife) {
		a.once = c.memory.pass(a.token).showOnce()
	}
}

// receivePass reads the cookie.
func (c *Check) receivePass(a *Arrival, keys ring, cookie string, now time.Time) {
	t, from := keys.open(cookie, &a.bearer)
	a.alien = a.alien || from == foreign && !c.memory.inFleet.Load()
	if from != own || !t.kind.isPass() || !t.isFresh(now, c.For) {
		return
	}
	p := c.memory.pass(t)
	if good, first := p.from(a.network, uint32(now.Unix())); good {
		a.pass, a.memory, a.isNew = t, p, first
	}
}

// identify fills in the address, unless that is done.
func (c *Check) identify(a *Arrival, q *judge.Request) {
	if a.hash != 0 {
		return
	}
	a.bearer.addr, _ = netip.ParseAddr(q.Client)
	var b [26]byte
	binary.NativeEndian.PutUint64(b[:], maphash.String(c.memory.seed, q.SiteName()))
	addr := netaddr.Client(a.bearer.addr).As16()
	copy(b[8:], addr[:])
	binary.NativeEndian.PutUint16(b[24:], q.Origin.Port)
	a.hash = max(1, maphash.Bytes(c.memory.seed, b[:]))
	a.network = maphash.Comparable(c.memory.seed, visible.Network(a.bearer.addr))
}

// pass returns what is remembered of a pass.
func (m *Memory) pass(t token) *pass {
	return m.passes.Add(max(1, maphash.Bytes(m.seed, t.id[:])), (*pass).worth, func(p *pass) { p.seen = t.at })
}
