package enforce

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Grace says which crawlers may still follow an earlier version of a robots.txt
// after it changed. A crawler must have visited before the change. Its grace
// ends when it reads the file again, and after GracePeriod at the latest.
type Grace uint8

const (
	// GraceSearch is for crawlers of purpose search only, because a search
	// engine drops a page that it gets 403 for.
	GraceSearch Grace = iota
	// GraceOff is for no crawler: a change binds all crawlers at once.
	GraceOff
	// GraceAll is for all crawlers.
	GraceAll
)

var graceNames = [...]string{GraceSearch: "search", GraceOff: "off", GraceAll: "all"}

// String returns "search", "off" or "all".
func (g Grace) String() string { return graceNames[g] }

// ParseGrace is the inverse of Grace.String.
func ParseGrace(s string) (Grace, error) {
	for g, name := range graceNames {
		if s == name {
			return Grace(g), nil
		}
	}
	return 0, fmt.Errorf("%q: want off, search or all", s)
}

// GracePeriod is how long after a change a crawler may still follow the earlier
// version: the 24 hours for which it may use a cached copy (RFC 9309, section
// 2.4).
const GracePeriod = 24 * time.Hour

// graces reports whether an agent may follow an earlier version of the file.
func (r *Rules) graces(a *crawler.Agent) bool {
	switch r.Grace {
	case GraceOff:
		return false
	case GraceAll:
		return true
	}
	return a.Crawler != nil && a.Crawler.Purpose == crawler.Search
}

// Version is an earlier version of an origin's robots.txt, one that crawlers
// may still have a copy of. It is immutable.
type Version struct {
	policy      *Policy
	from, until int64 // when it was in force, in nanoseconds since 1970
}

// Tag names the version, as Policy.Tag does.
func (v *Version) Tag() string { return v.policy.Tag() }

// Until returns when the version was replaced.
func (v *Version) Until() time.Time { return time.Unix(0, v.until) }

// Ends returns the time after which no crawler may follow the version.
func (v *Version) Ends() time.Time { return v.Until().Add(GracePeriod) }

// ended reports whether no crawler may follow the version any longer.
func (v *Version) ended(now int64) bool { return now-v.until >= int64(GracePeriod) }

// mayHold reports whether a crawler may have a copy of the version: it was in
// force when the crawler last read the file, or, if the crawler was never seen
// to read the file, it was replaced after the crawler was first seen.
func (v *Version) mayHold(visit Visit) bool {
	if visit.Read != 0 {
		return v.from <= visit.Read && visit.Read < v.until
	}
	return visit.First != 0 && visit.First < v.until
}

// Earlier has the earlier versions of a robots.txt, and what is known about the
// crawlers that a request names. The zero value has none.
type Earlier struct {
	versions []Version // newest first
	now      int64
	visits   [crawler.MaxAgents]Visit // by the place among the agents
}

// fill stores what is known about the agents that s has found. Without an
// engine, each counts as seen before any version was replaced.
func (x *Earlier) fill(versions []Version, s *senders, e *Engine) {
	x.versions, x.now = versions, s.request.Time.UnixNano()
	ev := s.evidence()
	for i := range s.agents() {
		a, claim := &s.agents()[i], ev.claim(i)
		switch {
		case !s.policy.rules.graces(a) || claim.State == verify.Impostor:
		case e == nil:
			x.visits[i] = Visit{First: 1}
		default:
			x.visits[i] = e.visit(s.request, a, claim)
		}
	}
}

// allows returns the version that lets the agent at place i through which the
// version in force does not; nil if there is none.
func (x *Earlier) allows(i int, a *crawler.Agent, ask *Ask, v *robots.Views) *Version {
	if x == nil {
		return nil
	}
	for j := range x.versions {
		version := &x.versions[j]
		if version.ended(x.now) || !version.mayHold(x.visits[i]) {
			continue
		}
		if w := version.policy.weigh(a, ask, v); w.group == nil || w.allowed {
			return version
		}
	}
	return nil
}

// earlier returns the earlier versions of the file that one of the agents of a
// request may follow, newest first; nil if there is none.
func (e *Engine) earlier(r *Request, agents []crawler.Agent) []Version {
	if !e.gracesAny(agents) {
		return nil
	}
	if e.policies == nil {
		return e.past
	}
	return e.policies.earlier(r)
}

// gracesAny reports whether one of the agents may follow an earlier version.
func (e *Engine) gracesAny(agents []crawler.Agent) bool {
	for i := range agents {
		if e.rules.graces(&agents[i]) {
			return true
		}
	}
	return false
}

// see records a visit of the agents of a request.
func (e *Engine) see(r *Request, agents []crawler.Agent, ev *Evidence) {
	for i := range agents {
		if a, claim := &agents[i], ev.claim(i); e.rules.graces(a) && claim.State != verify.Impostor {
			e.visits.See(e.visitorOf(r, a, claim), r.Time)
		}
	}
}

// visit is see for one agent. It returns what is known about it. For an
// unverified claim to be a crawler, this is what is known about the crawler
// and, in addition, about the client's own address. So the client does not end
// the crawler's grace, and has no grace itself once it has read the file.
func (e *Engine) visit(r *Request, a *crawler.Agent, claim verify.Result) Visit {
	visit := e.visits.See(e.visitorOf(r, a, claim), r.Time)
	crawler := e.visitor(r, a)
	switch claim.State {
	case verify.Unverified:
		visit = visit.with(e.visits.Last(crawler, r.Time))
	case verify.Verified: // it may have come before it was verified
		visit = visit.with(e.visits.Last(crawler.claimant(clientAddr(r)), r.Time))
	}
	crawler.many = !crawler.many // an earlier configuration may or may not have named the host
	return visit.with(e.visits.Last(crawler, r.Time))
}

// RobotsRead notes that a GET of /robots.txt was answered with status 200 or
// 304: from now on the version in force binds its sender. The policy is the one
// that was in force when the request was decided on.
func (e *Engine) RobotsRead(r *Request, policy *Policy) {
	e.robotsRead(r, policy, e.policies.readAt(r, policy))
}

// robotsRead is RobotsRead for the version that was in force at a time.
func (e *Engine) robotsRead(r *Request, policy *Policy, at int64) {
	var s senders
	for s.begin(policy, r); s.next(); {
		for i := range s.agents() {
			a, claim := &s.agents()[i], s.evidence().claim(i)
			if e.rules.graces(a) && claim.State != verify.Impostor {
				e.visits.Read(e.visitorOf(r, a, claim), r.Time, at)
			}
		}
	}
}

// EndGrace ends the grace of an origin, or of all origins for the zero Origin:
// the version in force then binds all crawlers at once. If one robots.txt
// serves all origins, the grace ends for all of them. It returns the number of
// files whose grace it ended. It is safe for concurrent use.
func (e *Engine) EndGrace(o Origin) int { return e.policies.endGrace(o) }
