package challenge

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

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

// Trap is a path with a slash at its end, such as /calendar-all/. A site links to URLs
// below that path where people do not see the links, and its robots.txt disallows the path
// to every crawler. Only robots that ignore robots.txt request such URLs.
type Trap string

const (
	maxTrap  = 256            // octets
	trapLife = 24 * time.Hour // of a trap URL: people keep tabs and bookmarks
)

// trapForm is a folder in letters that mean the same in URLs and in robots.txt.
var trapForm = regexp.MustCompile(`^(/[A-Za-z0-9._~!()-]+)+/$`)

// ParseTrap parses a trap: a path that ends with a slash, or with a slash and a
// star, such as /calendar-all/*.
func ParseTrap(pattern string) (Trap, error) {
	path := strings.TrimSuffix(pattern, "*")
	if len(path) > maxTrap || !trapForm.MatchString(path) || strings.HasPrefix(path, "/.well-known/") {
		return "", fmt.Errorf("trap %.300q: want a folder of its own, in letters, digits, slashes, dots and hyphens, such as /calendar-all/*", pattern)
	}
	return Trap(path), nil
}

// Allowed says which group of robots.txt allows URLs of the trap, so that the trap is not
// in force; "" if every group disallows them.
func (t Trap) Allowed(rules *judge.Rules) string {
	for _, target := range []string{string(t), string(t) + strings.Repeat("x", tokenLen)} {
		group, ok := rules.DisallowsEveryGroup(target)
		switch {
		case ok:
		case group == nil:
			return fmt.Sprintf("it has no group for *: add one with Disallow: %s, and add this line to all other groups", t)
		default:
			return fmt.Sprintf("the group for %.100s (line %d) allows it: add Disallow: %s to that group", group.Token(), group.Line(), t)
		}
	}
	return ""
}

// trapBearer is the client that a trap URL is made for, whatever its User-Agent. ok is
// false if its address is not certain, and over plain HTTP, where browsers do not say what
// a request is for.
func trapBearer(q *judge.Request) (b bearer, ok bool) {
	if q.Origin.Scheme != "https" || q.Ambiguous {
		return b, false
	}
	b.origin = q.Origin
	b.addr, _ = netip.ParseAddr(q.Client)
	return b, b.addr.IsValid()
}

// TrapURL returns a URL (path only) below the path of the trap, for the address of a
// client. It is valid for 24 hours. It is "" if no trap is in force under the rules.
func (c *Check) TrapURL(q *judge.Request, rules *judge.Rules) string {
	b, ok := trapBearer(q)
	if !ok || c.Trap == "" {
		return ""
	}
	u := string(c.Trap) + c.memory.keys().text(newToken(q.Time).as(trapToken), &b)
	if _, ok := rules.DisallowsEveryGroup(u); !ok {
		return ""
	}
	return u
}

// isTrapped reports whether a request is for a trap URL that was made for the same
// address, and the trap is in force.
func (c *Check) isTrapped(q *judge.Request, rules *judge.Rules) bool {
	if c.Trap == "" {
		return false
	}
	text, below := strings.CutPrefix(q.Target, string(c.Trap))
	b, ok := trapBearer(q)
	if !below || !ok {
		return false
	}
	text, _, _ = strings.Cut(text, "?")
	t := c.memory.keys().open(text, &b)
	if t.kind != trapToken || !t.isFresh(q.Time, trapLife) {
		return false
	}
	_, inForce := rules.DisallowsEveryGroup(q.Target)
	return inForce
}
