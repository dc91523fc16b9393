package enforce

import (
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Memory remembers what crawlers did: when each came, and which of them read a
// robots.txt; and the versions that each robots.txt had in the last GracePeriod. Several engines can share one. It
// outlives them, so that after a reload the grace periods of crawlers go on. It is
// bounded, and safe for concurrent use.
type Memory struct {
	claims    *events // unverified ones that were let through
	visits    *visitors
	histories *origins.Histories
	probes    *table.Table[probeClient]
}

// NewMemory returns an empty Memory for a number of unverified claims, of which there is
// one for each crawler, origin and address, and of visitors: known crawlers at origins,
// and as many that clients can invent.
func NewMemory(claims, visitors int) *Memory {
	return &Memory{
		claims: newEvents(claims), visits: newVisitors(visitors), histories: new(origins.Histories),
		probes: table.New[probeClient](maxProbes),
	}
}

// HistoryOctets returns the octets of the earlier versions of files.
func (m *Memory) HistoryOctets() int64 { return m.histories.Octets() }

// smallMemory is the size of a Memory that an engine does not share.
const smallMemory = 1 << 12

// recall sets what the engine remembers about the agents of c, for Judge.
func (e *Engine) recall(c *judge.Client, r *judge.Request, rules *judge.Rules) {
	if c.ReadsRobotsTxt() {
		return
	}
	grace := false
	for i := range c.Agents() {
		e.memory.holdProbe(c, r, rules, i)
		grace = grace || c.HasGrace(i)
	}
	if !grace {
		return
	}
	h := e.edition
	if h == nil {
		h = e.origins.Earlier(r)
	}
	if h == nil {
		return
	}
	c.Earlier = h.Earlier
	for i := range c.Agents() {
		if c.HasGrace(i) {
			visit := e.visitsOf(c, r, i)
			c.MayHold[i] = h.MayHold(visit.first, visit.read, visit.version, r.Time.UnixNano())
		}
	}
}

// visitsOf returns what is known about the visits of agent i, with this one: the
// visits of the crawler, and the reads of the client's own address. So a client
// whose claim nothing confirms does not end the crawler's grace period, and has
// none itself once it has read the file.
func (e *Engine) visitsOf(c *judge.Client, r *judge.Request, i int) visitTimes {
	now := r.Time
	visit := visitTimes{first: now.UnixNano()}
	crawler := newVisitor(r, &c.Agents()[i])
	named := crawler
	named.invented = !crawler.invented // an earlier configuration may or may not have named the host
	for _, who := range [...]visitorKey{crawler, named, crawler.claimant(r.Addr())} {
		visit = visit.with(e.memory.visits.last(who, now))
	}
	return visit
}

// noteVisit remembers that the agents of c came.
func (e *Engine) noteVisit(c *judge.Client, r *judge.Request) {
	for i := range c.Agents() {
		if !c.HasGrace(i) {
			continue
		}
		who := newVisitor(r, &c.Agents()[i])
		if c.Claim(i) == claim.Unverified {
			who = who.claimant(r.Addr())
		}
		e.memory.visits.record(who, r.Time)
	}
}

// RobotsRead records that a client got the whole answer to a GET of /robots.txt,
// with status 200 or 304. From then on, the version that it got applies to the
// crawler, or only to this address of it if the client is not verified. rules
// must be those of the decision on that request. sent is the hash (XXH64) of the
// answer's body; with 0, or the hash of no known version, those count that may have been
// in force at the time of r.
func (e *Engine) RobotsRead(r *judge.Request, rules *judge.Rules, sent uint64) {
	version := rules.PathRules()
	if e.edition == nil {
		version = e.origins.Received(r, rules, sent)
	}
	var c judge.Client
	c.Begin(r, rules)
	for c.Next() {
		for i := range c.Agents() {
			if !c.HasGrace(i) {
				continue
			}
			who := newVisitor(r, &c.Agents()[i])
			if c.Claim(i) != claim.Verified { // anyone can send a crawler's User-Agent
				who = who.claimant(r.Addr())
			}
			e.memory.visits.read(who, r.Time, version)
		}
	}
}
