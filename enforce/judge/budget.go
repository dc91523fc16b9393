package judge

import (
	"math/bits"
	"net/netip"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// seedHome is the seed of the hash of Home.
const seedHome = 61

// Home returns the home of all budgets of the requests for some hosts, which are sorted: see
// throttle.Key.In.
func Home(hosts []string) throttle.Key {
	return throttle.KeyOf(Origin{Host: strings.Join(hosts, " ")}.Hash(seedHome, ""))
}

// hashFactor is 2^64 divided by the golden ratio.
const hashFactor = 0x9e3779b97f4a7c15

// Hash returns two hashes of an origin and of the first 64 octets of a name, the same in
// every process; upper and lower case are equal. The seed keeps those for different purposes
// apart. They need not be cryptographic: a client that wants to use a crawler's budget can
// simply send the crawler's User-Agent. Hash writes nothing to memory, because reading it
// again at once would take longer than the calculation.
func (o Origin) Hash(seed uint8, name string) (a, b uint64) {
	h := uint64(seed)<<32 | uint64(len(o.Scheme))<<16 | uint64(o.Port)
	for i := range min(len(name), 64) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		h = (bits.RotateLeft64(h, 5) ^ uint64(c)) * hashFactor
	}
	high, low := bits.Mul64(h^hashFactor, xxhash.Sum64String(o.Host))
	return high ^ low, low
}

// AgentKey returns the key of an agent's budget from that of its name: that of the
// client's address, if each address has its own budget. These are: with perAddr or
// Settings.PerIP, and for software that anyone can run, because unrelated people send its
// User-Agent.
func (s *Compiled) AgentKey(r *Request, a *crawler.Agent, perAddr bool, k throttle.Key) throttle.Key {
	if perAddr || a.RunByAnyone() || s.PerIP {
		addr, _ := netip.ParseAddr(r.Client)
		return k.Client(addr)
	}
	if a.Crawler == nil && a.Class == crawler.SelfDeclared {
		return k.Disposable() // clients can invent any number of such names
	}
	return k
}

var allPathGroups interned[string, robots.Group]

// PathGroup returns a group that disallows paths, nil for none. The error says what is wrong
// with a pattern.
func PathGroup(patterns []string) (*robots.Group, error) {
	var paths []robots.Rule
	for _, p := range patterns {
		if err := CheckPathPattern(p); err != nil {
			return nil, err
		}
		paths = append(paths, robots.Rule{Pattern: p})
	}
	if len(paths) == 0 {
		return nil, nil
	}
	return allPathGroups.get(strings.Join(patterns, "\n"), func() (*robots.Group, error) {
		return hiddenGroup(paths), nil
	})
}

// Disallowing returns which of at most 8 groups disallow a target, bit i for groups[i]; a
// group that is nil does.
func (s *Compiled) Disallowing(groups []*robots.Group, target string) (which uint8) {
	v := s.viewsOf(target)
	defer views.Put(v)
	for i, g := range groups {
		if g == nil || !g.MatchViews(v).Allowed {
			which |= 1 << i
		}
	}
	return which
}

// Limitable reports whether requests of an agent can be Bound; group is the one that applies
// to it, nil if none does.
func (s *Compiled) Limitable(a *crawler.Agent, group *robots.Group) bool {
	return !isNeverBound(a) && (group != nil || s.BoundByStar(a.Class, a.Crawler))
}

// isNeverBound reports whether no request of an agent is Bound, even if it has a group.
func isNeverBound(a *crawler.Agent) bool {
	return a.Class == crawler.Webhook || a.Class == crawler.Probe
}

// isBound returns Subject.Bound for an agent that is let through for a reason.
func (c *Client) isBound(a *crawler.Agent, why Reason) bool {
	switch {
	case !c.rules.settings.StepBudgets || isNeverBound(a):
		return false
	case why != Unbound && why != NoRules:
		return why.hasGroup() || why.Info().NoCrawling
	}
	return c.rules.settings.BoundByStar(a.Class, a.Crawler) && c.starApplies(a)
}
