package challenge

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

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
