package audit

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// judge counts a request and decides what enforcing robots.txt would have done with it.
func (a *auditor) judge(ctx context.Context, e *entry) {
	h := a.hosts.of(e.host)
	s := h.site
	r := &a.request
	*r = request(e, h)
	src, edition := s.at(e.at)
	if src != nil {
		src.requests++
		a.judged++
	}
	d := &a.decision
	s.replay.Decide(edition, r, d)
	if a.options.Verify && a.claims.needsLookup(d) && a.input.file.Once {
		a.claims.lookUp(ctx, s, r, d)
		s.replay.Decide(edition, r, d)
	}
	var was *enforce.Decision
	read := isRead(e)
	if read {
		s.replay.RobotsRead(edition, r)
	}
	if a.against != nil {
		before := s.editionBefore(e.at)
		was = &a.was
		if read {
			s.before.RobotsRead(before, r)
		}
		s.before.Decide(before, r, was)
	}
	a.octets += e.bytes
	h.requests++
	address := xxhash.Sum64String(e.client)
	a.addresses.add(address)
	a.warningCounts.request(e)
	step := &a.untimed
	if e.timed {
		step = a.activity.at(e.at)
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
func isRead(e *entry) bool {
	return (e.status == http.StatusOK || e.status == http.StatusNotModified) && e.method == http.MethodGet && enforce.IsRobotsTxt(e.target)
}

// request returns an entry in the form that the engine needs.
func request(e *entry, h *hostTally) enforce.Request {
	return enforce.Request{
		Method: e.method, Target: e.target, UserAgents: e.agents, Origin: h.origin, Client: e.client, Time: e.time(), Authorized: e.authorized,
	}
}

// person counts a request of a person.
func (a *auditor) person(e *entry, step *activityStep) {
	a.persons++
	step.people++
	a.people.add(e.agent())
	if (e.referer != "" || strings.Contains(e.target, "utm_source=")) && e.status < 400 {
		a.referrals.add(e.referer, e.target)
	}
}

// verdict counts the decisions on a request. If a pace is limited, the request first
// waits in pending for earlier requests that are after it in the log.
func (a *auditor) verdict(e *entry, c *crawlerTally, h *hostTally, src *source, was *enforce.Decision) {
	v := &a.current
	*v = judgedRequest{
		at: e.at, timed: e.timed, site: h.site, request: a.request, now: a.decision, was: was, crawler: c, host: h, source: src,
		exact: e.begun && e.resolution <= int64(10*time.Millisecond), resolution: e.resolution, input: a.input, number: a.input.number, status: e.status, agent: e.agent(),
	}
	if !e.timed || !v.now.Paced() && (was == nil || !was.Paced()) {
		a.countVerdicts(v)
		return
	}
	held := new(judgedRequest)
	*held = *v
	held.clone()
	a.queue(held)
}

// tally counts a request of a crawler.
func (a *auditor) tally(c *crawlerTally, e *entry, src *source, h *hostTally, address uint64) {
	d := &a.decision
	c.requests++
	c.bytes += e.bytes
	c.statuses[statusClass(e.status)]++
	c.claims[d.Claim.State]++
	c.addresses.add(address)
	if e.timed {
		c.seen(e.at)
	}
	if d.Group != nil && src != nil {
		c.groups[groupKey{src, d.Group}]++
	}
	if enforce.IsRobotsTxt(e.target) {
		c.robotsTxtReads++
		if e.timed {
			c.read(e.time(), h.name, e.status)
		}
	}
}
