package challenge

import (
	"net/http"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/browser"
)

// A sign says that a client with a browser's User-Agent is no person's browser: it fetched
// a trap URL that was made for its own address, or /robots.txt without the Sec-Fetch-*
// fields that this browser always sends. On the paths of the check, such a client is a
// stranger without a pass for a day, storm or not, until somebody presses the button.
//
// No page of another site can mark its readers: only browsers that say
// what a request is for are looked at, over HTTPS, and only requests that their user, or a
// page of the same origin, has made for a document.
//
// A client is an address with a whole User-Agent at one site.

// fetchFields are those by which a browser says what a request is for.
var fetchFields = [...]string{"Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest"}

// watchSigns looks for a sign in a request that a person seems to have sent.
func (c *Check) watchSigns(a *Arrival, q *judge.Request, r *http.Request, d *judge.Decision) {
	isSign := judge.IsRobotsTxt(q.Target) && isProgram(r) || c.isTrapped(q, d.Rules)
	if !isSign || d.Reason != judge.Person || len(q.UserAgents) != 1 || q.Authorized || !q.Reads() || !isOpened(r) {
		return
	}
	if _, isCertain := trapBearer(q); isCertain && browser.SendsFetchFields(q.UserAgents[0]) {
		c.identify(a, q)
		client, _ := c.memory.memo(c.clientKey(a, r), a.now)
		client.sign.Store(a.now)
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
	isOther := func(dest string) bool { return dest != "document" }
	return len(r.Header["Sec-Purpose"])+len(r.Header["Purpose"])+len(r.Header["X-Moz"]) == 0 &&
		!slices.ContainsFunc(r.Header["Sec-Fetch-Dest"], isOther) && isFrom(r, "same-origin", "none")
}
