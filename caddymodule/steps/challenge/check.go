package challenge

import (
	"hash/maphash"
	"net/netip"
	"slices"
	"sync"
	"text/template"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

var results = metrics.NewCounter("challenges_total",
	"Checks of strangers, by result: shown, style (cookie sent), passed (client came back), button (pressed) or refused (429).", "result")

// count counts a result.
func count(result string) { results.WithLabelValues(result).Inc() }

// Config has the settings of a Check.
type Config struct {
	name    string             // the line of the configuration, such as `challenge /blame/*`
	over    int                // documents of lone addresses in Window
	window  time.Duration      // from 10 seconds to 10 minutes
	passFor time.Duration      // how long a pass is good
	mark    bool               // strangers are only marked
	always  bool               // strangers are asked, storm or not
	names   []string           // of clients that are never asked, as in the registry
	from    []netip.Prefix     // their addresses
	paths   *robots.Group      // nil: those that robots.txt disallows
	page    *template.Template // nil where storms are only told
	trap    Trap               // where trap URLs lie; "" without
	busy    func() bool        // whether the server is busy; nil if nobody knows
}

// Check is the check of a handler. It is safe for concurrent use.
type Check struct {
	Config
	place  *judge.Place
	slot   step.Slot[Arrival]
	memory *Memory
	id     func() checkID
	off    sync.Map // of the origins' hosts, and "" for all, for which the operator has switched it off
}

// What requests bring to the steps Challenge and Storms.
var arrivals, watched = step.NewSlot[Arrival](), step.NewSlot[Arrival]()

// New returns a Check. key names the handler when requests come: one with the same key goes
// on with what was counted, if the settings of the storm are the same.
func New(m *Memory, c Config, key func() string) *Check {
	check := &Check{Config: c, memory: m, slot: arrivals, place: &judge.Place{Layer: Layer, Text: c.name}}
	if c.page == nil {
		check.slot = watched
	}
	check.id = sync.OnceValue(func() checkID { return checkID{key(), c.name, c.over, c.window} })
	return check
}

// checkID has all that shapes the storms of a handler.
type checkID struct {
	handler, name string
	over          int
	window        time.Duration
}

// Storms calls yield for each storm of the check.
func (c *Check) Storms(yield func(*Storm) bool) {
	id := c.id()
	for s := range c.memory.storms.All() {
		if s.check == id && !yield(s) {
			return
		}
	}
}

// storm returns the storm of the origin of a request.
func (c *Check) storm(q *judge.Request, now uint32) *Storm {
	type stormKey struct {
		check checkID
		site  string
		port  uint16
	}
	site := q.SiteName()
	key := max(1, maphash.Comparable(c.memory.seed, stormKey{c.id(), site, q.Origin.Port}))
	s := c.memory.storms.Add(key, func(s *Storm) int64 { return int64(s.seen.Load()) }, func(s *Storm) { s.start(site, c, key) })
	if s.seen.Load() != now {
		s.seen.Store(now)
	}
	return s
}

// isOn reports whether strangers are checked at a host.
func (s *Storm) isOn(c *Check, host string, now uint32) bool {
	return (s.IsOn(now, c.busy) || c.always) && c.isUsed(host)
}

// isUsed reports whether the keys were looked for, so that passes of an earlier process are known, and
// the operator has not switched the check off for a host.
func (c *Check) isUsed(host string) bool { return c.memory.keysFailed.Load() != nil && !c.IsOff(host) }

// IsOff reports whether the operator has switched the check off for a host.
func (c *Check) IsOff(host string) bool {
	_, all := c.off.Load("")
	_, here := c.off.Load(host)
	return all || here
}

// Switch implements step.Switch.
func (c *Check) Switch(host string, on bool) {
	switch {
	case !on:
		c.off.Store(host, true)
	case host == "":
		c.off.Clear()
	default:
		c.off.Delete(host)
	}
}

// clientKind says what the client of a request is, for a check. What the request says of itself
// makes no difference: a robot can send anything.
type clientKind uint8

const (
	free     clientKind = iota // neither held nor counted
	named                      // it names a crawler that no rule binds
	stranger                   // any other client that no rule binds
)

// kindOf returns the kind of the client of a request.
func (c *Check) kindOf(x *step.Exchange) clientKind {
	d, class := &x.Decision, x.Decision.Agent.Class
	isFree := d.Reason == judge.Exempt || d.Reason == judge.ExemptPath || d.Reason == judge.Allowed || d.Reason == judge.Graced
	switch {
	case isFree || d.Action != judge.Pass || d.Claim.State == claim.Verified || class == crawler.Probe || c.excepts(x):
		return free
	case crawler.Registered <= class && class <= crawler.Scraper:
		return named
	}
	return stranger
}

// excepts reports whether the configuration names a client, by its name or its address.
func (c *Check) excepts(x *step.Exchange) bool {
	agent := &x.Decision.Agent
	if agent.Crawler != nil && words.ContainsFold(c.names, agent.Crawler.Name) || agent.Token != "" && words.ContainsFold(c.names, agent.Token) {
		return true
	}
	if len(c.from) == 0 || x.Request.Ambiguous { // by which any client could be anybody
		return false
	}
	addr := netaddr.Unmap(x.Request.Addr())
	return slices.ContainsFunc(c.from, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// closes reports whether the check is for the path of a request.
func (c *Check) closes(rules *judge.Rules, q *judge.Request) bool {
	if c.paths == nil {
		return rules.DisallowsPart(q.Target)
	}
	return rules.Name(c.paths, q.Target)
}
