package challenge

import (
	"hash/maphash"
	"net/http"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/browser"
)

// A sign says that a client with a browser's User-Agent is no person's browser: it fetched
// a trap URL that was made for its own address, or /robots.txt without the Sec-Fetch-*
// fields that this browser always sends. On the paths of the check, such a client is a
// stranger without a pass, storm or not, until somebody presses the button.
//
// No page of another site can mark its readers: only browsers that say
// what a request is for are looked at, over HTTPS, and only requests that their user, or a
// page of the same origin, has made for a document.
//
// A client is an address with a whole User-Agent at one site.
const signLife = day

// fetchFields are those by which a browser says what a request is for.
var fetchFields = [...]string{"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"}

// clientKey returns the key of an address with a User-Agent.
func (c *Check) clientKey(a *Arrival, r *http.Request) uint64 {
	missing := slices.ContainsFunc(fetchFields[:], func(name string) bool { return len(r.Header[name]) == 0 })
	key := a.address ^ maphash.String(c.memory.seed, a.bearer.userAgent)
	if missing {
		key++
	}
	return max(1, key)
}

// watchSigns looks for a sign in a request that a person seems to have sent.
func (c *Check) watchSigns(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision, now uint32) {
	isSign := judge.IsRobotsTxt(q.Target) && isProgram(r) || c.isTrapped(q, d.Rules)
	if !isSign || d.Reason != judge.Person || len(q.UserAgents) != 1 || q.Authorized || !q.Reads() || !isOpened(r) {
		return
	}
	if _, isCertain := trapBearer(q); isCertain && browser.SendsFetchFields(q.UserAgents[0]) {
		c.identify(a, q)
		c.clientOf(a, r, now).sign.Store(now)
		c.memory.signed.Store(now)
	}
}

// isProgram reports whether a request has none of the fields that browsers send.
func isProgram(r *http.Request) bool {
	return len(r.Header["Sec-Fetch-User"]) == 0 &&
		!slices.ContainsFunc(fetchFields[:], func(name string) bool { return len(r.Header[name]) > 0 })
}

// isOpened reports whether the user, or a page of the same origin, has opened the URL, as
// far as the browser says.
func isOpened(r *http.Request) bool {
	return IsDocument(r) &&
		!slices.ContainsFunc(r.Header["Sec-Fetch-Site"], func(site string) bool { return site != "same-origin" && site != "none" })
}

// isSigned reports whether the client has shown a sign in the last 24 hours, and nobody
// has pressed the button since.
func (c *Check) isSigned(a *Arrival, q *judge.Request, r *http.Request, now uint32) bool {
	if int32(now-c.memory.signed.Load()) > signLife || a.IsFreed() || len(q.UserAgents) != 1 {
		return false
	}
	v := c.memory.clients.Get(c.clientKey(a, r))
	return v != nil && v.sign.Load() != 0 && int32(now-v.sign.Load()) <= signLife && c.isUsed(q.Origin.Host)
}
