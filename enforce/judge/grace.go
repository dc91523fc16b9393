package judge

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Grace says which crawlers have a grace period after a robots.txt changed: in
// this time they may still follow an earlier version of it. Only crawlers that
// came before the change have one. It ends when the crawler reads the file
// again, and after GracePeriod at the latest.
type Grace uint8

const (
	// GraceSearch gives a grace period to crawlers with the purpose search
	// only. A search engine removes a page from its index if its crawler gets a
	// 403.
	GraceSearch Grace = iota
	// GraceOff gives no crawler a grace period: a change applies to all
	// crawlers at once.
	GraceOff
	// GraceAll gives all crawlers a grace period.
	GraceAll
)

var graceNames = [...]string{GraceSearch: "search", GraceOff: "off", GraceAll: "all"}

// String returns "search", "off" or "all".
func (g Grace) String() string { return graceNames[g] }

// ParseGrace returns the Grace with the name s: "search", "off" or "all".
func ParseGrace(s string) (Grace, error) {
	for g, name := range graceNames {
		if s == name {
			return Grace(g), nil
		}
	}
	return 0, fmt.Errorf("%q is not allowed: write off, search or all", s)
}

// GracePeriod is the longest grace period. It is the time for which a crawler
// may use a cached copy of robots.txt (RFC 9309, section 2.4).
const GracePeriod = 24 * time.Hour

// hasGrace reports whether an agent may follow an earlier version of the file.
func (r *Settings) hasGrace(a *crawler.Agent) bool {
	switch r.Grace {
	case GraceOff:
		return false
	case GraceAll:
		return true
	}
	return a.Crawler != nil && a.Crawler.CountsAs(crawler.Search)
}

// Version is an earlier version of an origin's robots.txt. Crawlers may still
// have a cached copy of it. A Version is immutable.
type Version struct {
	// Rules are the rules of the version. They are empty if crawlers got no
	// robots.txt (see Rules.Outcome).
	Rules *Rules
	// From and To say when it was in force, in nanoseconds since 1970.
	From, To int64
	// Brief reports that it was never in force for long: few crawlers have read it that
	// are not known to have.
	Brief bool
}

// MaxVersions is how many earlier versions of a file are kept. If there are more, the
// version that was replaced first is dropped.
const MaxVersions = 8

// Until returns when the version was replaced.
func (v *Version) Until() time.Time { return time.Unix(0, v.To) }

// Ends returns the time after which no crawler may follow the version.
func (v *Version) Ends() time.Time { return v.Until().Add(GracePeriod) }

// Ended reports whether the version is too old for any crawler to follow it.
// now is in nanoseconds since 1970.
func (v *Version) Ended(now int64) bool { return now-v.To >= int64(GracePeriod) }

// HasGrace reports whether agent i may follow an earlier version of the file.
func (c *Client) HasGrace(i int) bool {
	return c.claims[i].State != claim.Impostor && c.rules.settings.hasGrace(&c.Agents()[i])
}

// allowingVersion returns the newest earlier version that agent i may follow and
// that lets it through. It returns nil if there is none.
func (c *Client) allowingVersion(i int) *Version {
	for j := range c.Earlier {
		if v := &c.Earlier[j]; c.MayHold[i]&(1<<j) != 0 && c.allowedBy(v.Rules, &c.Agents()[i]) {
			return v
		}
	}
	return nil
}

// allowedBy reports whether an earlier version lets an agent through. Its tokens
// can give the User-Agent other agents than those of the version in force do: a
// robot that declares itself has class Named, and its name in place of the word
// that declares it, only where the file names it. So the version must let through
// all agents that it finds, and find one.
func (c *Client) allowedBy(version *Rules, a *crawler.Agent) bool {
	if a.Crawler != nil || c.extra != nil {
		w := c.matchPath(version, a)
		return !w.denied()
	}
	var id crawler.Identity
	version.identify(c.field, &id)
	for i := range id.Len() {
		b := id.At(i)
		if b.Class == crawler.Probe {
			b.Class = a.Class // self-declared, if it requests too many paths
		}
		if w := c.matchPath(version, b); w.denied() && !(w.byStar && !c.rules.settings.Strict && c.request.IsNoCrawling(b)) {
			return false
		}
	}
	return id.Len() > 0
}
