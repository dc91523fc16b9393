package audit

import (
	"context"
	"net/http"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"

	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// judge counts a request and decides what enforcing robots.txt would have done with it.
func (a *auditor) judge(ctx context.Context, e *logformat.Entry) {
	h := a.hosts.of(e.Host)
	s := h.site
	r := &a.request
	*r = request(e, h)
	src, edition := s.at(e.At)
	if src != nil {
		src.requests++
		a.judged++
	}
	d := &a.decision
	s.replay.Decide(edition, r, d)
	if a.options.Verify && a.claims.needsLookup(d) && a.log.Once {
		a.claims.lookUp(ctx, s, r, d)
		s.replay.Decide(edition, r, d)
	}
	var was *enforce.Decision
	read := isRead(e)
	if read {
		s.replay.RobotsRead(edition, r)
	}
	if a.against != nil {
		before := s.editionBefore(e.At)
		was = &a.was
		if read {
			s.before.RobotsRead(before, r)
		}
		s.before.Decide(before, r, was)
	}
	a.octets += e.Bytes
	h.requests++
	address := xxhash.Sum64String(e.Client)
	a.addresses.add(address)
	a.warningCounts.request(e)
	step := &a.untimed
	if e.Timed {
		step = a.activity.at(e.At)
	}
	var c *crawlerTally
	if d.Agent.Class == crawler.Person {
		a.person(e, step)
		if a.suspectReplay != nil && s.Suspects != nil && d.Reason == enforce.Person {
			a.suspectReplay.look(e, h, src, edition.Rules())
		}
		if was == nil || was.Agent.Class == crawler.Person {
			return
		}
	} else {
		step.robots++
		h.robots++
		c = a.crawlers.of(&d.Agent)
		a.tally(c, e, src, h, address)
	}
	a.verdict(e, c, h, src, was)
}

// isRead reports whether a request got the robots.txt that was in force.
func isRead(e *logformat.Entry) bool {
	return (e.Status == http.StatusOK || e.Status == http.StatusNotModified) && e.Method == http.MethodGet && enforce.IsRobotsTxt(e.Target)
}

// request returns an entry in the form that the engine needs.
func request(e *logformat.Entry, h *hostTally) enforce.Request {
	return enforce.Request{
		Method: e.Method, Target: e.Target, UserAgents: e.UserAgents, Origin: h.origin, Client: e.Client, Time: e.Time(), Authorized: e.Authorized,
	}
}

// person counts a request of a person.
func (a *auditor) person(e *logformat.Entry, step *activityStep) {
	a.persons++
	step.people++
	a.people.add(e.UserAgent())
}

// verdict counts the decisions on a request. If a pace is limited, the request first
// waits in pending for earlier requests that are after it in the log.
func (a *auditor) verdict(e *logformat.Entry, c *crawlerTally, h *hostTally, src *source, was *enforce.Decision) {
	v := &a.current
	*v = judgedRequest{
		at: e.At, timed: e.Timed, site: h.site, request: a.request, now: a.decision, was: was, crawler: c, host: h, source: src,
		exact: e.Begun && e.Resolution <= int64(10*time.Millisecond), resolution: e.Resolution, input: a.log.Name, number: a.log.Number, status: e.Status, agent: e.UserAgent(),
	}
	if !e.Timed || !v.now.Paced() && (was == nil || !was.Paced()) {
		a.countVerdicts(v)
		return
	}
	held := new(judgedRequest)
	*held = *v
	held.clone()
	a.queue(held)
}

// tally counts a request of a crawler.
func (a *auditor) tally(c *crawlerTally, e *logformat.Entry, src *source, h *hostTally, address uint64) {
	d := &a.decision
	c.requests++
	c.bytes += e.Bytes
	c.statuses[statusClass(e.Status)]++
	c.claims[d.Claim.State]++
	c.addresses.add(address)
	if e.Timed {
		c.seen(e.At)
	}
	if d.Group != nil && src != nil {
		c.groups[groupKey{src, d.Group}]++
	}
	if enforce.IsRobotsTxt(e.Target) {
		c.robotsTxtReads++
		if e.Timed {
			c.read(e.Time(), h.name, e.Status)
		}
	}
}
