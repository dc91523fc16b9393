package challenge

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
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

// watchSigns looks for a sign in a request that a person seems to have sent.
func (c *Check) watchSigns(x *step.Exchange) {
	q, r := &x.Request, x.HTTP
	isProgram := judge.IsRobotsTxt(q.Target) && fetchFields(r) == 0 && len(r.Header["Sec-Fetch-User"]) == 0
	if !isProgram && !c.isTrapped(q, x.Decision.Rules) || x.Decision.Reason != judge.Person || q.Authorized || !q.Reads() || !isOpened(r) {
		return
	}
	a := c.arrival(x)
	if isCertain(q, a.bearer.addr) && browser.SendsFetchFields(a.bearer.userAgent) {
		a.ofClient().sign.Store(a.now)
	}
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
	group, ok := rules.DisallowsEveryGroup(string(t) + strings.Repeat("x", tokenLen))
	switch {
	case ok:
		return ""
	case group == nil:
		return fmt.Sprintf("it has no group for *: add one with Disallow: %s, and add this line to all other groups", t)
	}
	return fmt.Sprintf("the group for %.100s (line %d) allows it: add Disallow: %s to that group", group.Token(), group.Line(), t)
}

// isCertain reports whether the address of a client is its own, and not over plain HTTP, where
// browsers do not say what a request is for.
func isCertain(q *judge.Request, addr netip.Addr) bool {
	return q.Origin.Scheme == "https" && !q.Ambiguous && addr.IsValid()
}

// TrapURL returns a URL (path only) below the path of the trap, for the address of a
// client, whatever its User-Agent. It is valid for 24 hours. It is "" if no trap is in force under
// the rules.
func (c *Check) TrapURL(q *judge.Request, rules *judge.Rules) string {
	b := bearerOf(q)
	u := string(c.trap) + c.memory.keys().text(newToken(q.Time).as(trapToken), &b)
	_, inForce := rules.DisallowsEveryGroup(u)
	if c.trap == "" || !isCertain(q, b.addr) || !inForce {
		return ""
	}
	return u
}

// isTrapped reports whether a request is for a trap URL that was made for the same
// address, and the trap is in force.
func (c *Check) isTrapped(q *judge.Request, rules *judge.Rules) bool {
	text, below := strings.CutPrefix(q.Target, string(c.trap))
	if c.trap == "" || !below {
		return false
	}
	b := bearerOf(q)
	text, _, _ = strings.Cut(text, "?")
	_, inForce := rules.DisallowsEveryGroup(q.Target)
	return inForce && c.memory.keys().open(text, &b).isFresh(trapToken, q.Time, trapLife)
}
