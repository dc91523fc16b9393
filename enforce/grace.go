package enforce

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
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
	return a.Crawler != nil && a.Crawler.Purpose == crawler.Search
}

// Version is an earlier version of an origin's robots.txt. Crawlers may still
// have a cached copy of it. A Version is immutable.
type Version struct {
	rules       *Rules
	from, until int64 // when it was in force, in nanoseconds since 1970
}

// Tag returns the tag of the version. See Rules.Tag.
func (v *Version) Tag() string { return v.rules.Tag() }

// Rules returns the policy of the version. It has no rules if crawlers got no
// robots.txt (see Rules.Outcome).
func (v *Version) Rules() *Rules { return v.rules }

// Until returns when the version was replaced.
func (v *Version) Until() time.Time { return time.Unix(0, v.until) }

// Ends returns the time after which no crawler may follow the version.
func (v *Version) Ends() time.Time { return v.Until().Add(GracePeriod) }

// ended reports whether the version is too old for any crawler to follow it.
// now is in nanoseconds since 1970.
func (v *Version) ended(now int64) bool { return now-v.until >= int64(GracePeriod) }

// mayHold reports whether a crawler may have a cached copy of the version. If
// the crawler is known to have read the file, the version must have been in
// force at the last read. If it is not, the crawler must have come before the
// version was replaced.
func (v *Version) mayHold(visit visitTimes) bool {
	if visit.read != 0 {
		return v.from <= visit.read && visit.read < v.until
	}
	return visit.first != 0 && visit.first < v.until
}

// earlierVersions has the earlier versions of a robots.txt, and what is known
// about the visits of the crawlers that a request names. The zero value has no
// versions.
type earlierVersions struct {
	versions []Version // newest first
	now      int64
	visits   [crawler.MaxAgents]visitTimes // one for each agent, in the order of the agents
}

// fill sets the versions, and the visits of the agents that s has found. If e
// is nil, each agent counts as having come before any version was replaced.
func (x *earlierVersions) fill(versions []Version, s *senders, e *Engine) {
	x.versions, x.now = versions, s.request.Time.UnixNano()
	ev := s.evidence()
	for i := range s.agents() {
		a, claim := &s.agents()[i], ev.claim(i)
		switch {
		case !s.rules.settings.hasGrace(a) || claim.State == verify.Impostor:
		case e == nil:
			x.visits[i] = visitTimes{first: 1}
		default:
			x.visits[i] = e.visit(s.request, a, claim)
		}
	}
}

// allows returns the newest earlier version that agent a, with index i, may
// follow and that lets it through. It returns nil if there is none.
func (x *earlierVersions) allows(i int, a *crawler.Agent, info *requestInfo, v *robots.Views) *Version {
	if x == nil {
		return nil
	}
	for j := range x.versions {
		version := &x.versions[j]
		if version.ended(x.now) || !version.mayHold(x.visits[i]) {
			continue
		}
		if w := version.rules.judgePath(a, info, v); w.group == nil || w.allowed {
			return version
		}
	}
	return nil
}

// earlier returns the earlier versions of the file that an agent of the request
// may follow, newest first. It returns nil if there is none.
func (e *Engine) earlier(r *Request, agents []crawler.Agent) []Version {
	if !e.anyHasGrace(agents) {
		return nil
	}
	if e.origins == nil {
		return e.past
	}
	return e.origins.earlier(r)
}

// anyHasGrace reports whether one of the agents may follow an earlier version.
func (e *Engine) anyHasGrace(agents []crawler.Agent) bool {
	for i := range agents {
		if e.settings.hasGrace(&agents[i]) {
			return true
		}
	}
	return false
}

// see records a visit of each agent of a request.
func (e *Engine) see(r *Request, agents []crawler.Agent, ev *evidence) {
	for i := range agents {
		if a, claim := &agents[i], ev.claim(i); e.settings.hasGrace(a) && claim.State != verify.Impostor {
			e.visits.see(e.visitorOf(r, a, claim), r.Time)
		}
	}
}

// visit records a visit of one agent, and returns what is known about its
// visits. For an unverified claim, it combines the visits of the crawler with
// those of the client's own address. So an unverified client does not end the
// crawler's grace period, and has none itself once it has read the file.
func (e *Engine) visit(r *Request, a *crawler.Agent, claim verify.Result) visitTimes {
	visit := e.visits.see(e.visitorOf(r, a, claim), r.Time)
	crawler := e.visitor(r, a)
	switch claim.State {
	case verify.Unverified:
		visit = visit.with(e.visits.last(crawler, r.Time))
	case verify.Verified: // it may have come before it was verified
		visit = visit.with(e.visits.last(crawler.claimant(clientAddr(r)), r.Time))
	}
	crawler.invented = !crawler.invented // an earlier configuration may or may not have named the host
	return visit.with(e.visits.last(crawler, r.Time))
}

// RobotsRead records that a GET of /robots.txt was answered with status 200 or
// 304. From then on, the version in force applies to the client. The policy
// must be the one of the decision on that request.
func (e *Engine) RobotsRead(r *Request, rules *Rules) {
	e.robotsRead(r, rules, e.origins.readAt(r, rules))
}

// robotsRead is RobotsRead for the version that was in force at a time, in
// nanoseconds since 1970.
func (e *Engine) robotsRead(r *Request, rules *Rules, at int64) {
	var s senders
	for s.begin(rules, r); s.next(); {
		for i := range s.agents() {
			a, claim := &s.agents()[i], s.evidence().claim(i)
			if e.settings.hasGrace(a) && claim.State != verify.Impostor {
				e.visits.read(e.visitorOf(r, a, claim), r.Time, at)
			}
		}
	}
}

// EndGrace ends the grace period of all crawlers at an origin. From then on, only
// the version in force applies. If o is the zero Origin, or if the source serves
// all origins, EndGrace does so at all origins. It returns how many origins had
// earlier versions; a source that serves all origins counts as one. It is safe
// for concurrent use.
func (e *Engine) EndGrace(o Origin) int { return e.origins.endGrace(o) }
