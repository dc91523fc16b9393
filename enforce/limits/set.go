package limits

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Set has the limits of a site. It is safe for concurrent use.
type Set struct {
	list   []compiled
	groups []*robots.Group // disallow the paths of the limits; nil for all paths
	turns  *Turns
	blocks func() []block // those of list
	roles  atomic.Pointer[roles]
}

// compiled is a Limit with what requests need.
type compiled struct {
	*Limit
	bounds [boundCount]bound
	came   atomic.Int64 // when a crawler that nobody can invent came last, in nanoseconds since 1970
}

// roles are the roles of the crawlers of a registry.
type roles struct {
	registry *crawler.Registry
	of       [][]role // by limit, and crawler.Crawler.Index
}

// block identifies a limit at its hosts: the host of Origin is the text of both.
type block struct {
	judge.Origin
	home throttle.Key // of all budgets of the hosts' requests; see throttle.Key.In
}

// New returns a Set for the hosts of a site. hosts may be nil, and is called once requests
// come. turns counts requests at once. The error says what is wrong with list.
func New(list []Limit, hosts func() []string, turns *Turns) (*Set, error) {
	if len(list) > Max {
		return nil, fmt.Errorf("there are %d limits: at most %d are possible", len(list), Max)
	}
	s := &Set{list: make([]compiled, len(list)), turns: turns}
	for i := range list {
		l := &s.list[i]
		l.Limit = &list[i]
		l.bounds = l.compile()
		group, err := judge.PathGroup(l.Paths)
		if err != nil {
			return nil, err
		}
		s.groups = append(s.groups, group)
	}
	s.blocks = sync.OnceValue(func() (blocks []block) {
		var names []string
		if hosts != nil {
			names = slices.Sorted(slices.Values(hosts()))
		}
		home := judge.Home(names)
		for _, l := range list {
			text := slices.Concat(names, []string{""}, slices.Sorted(slices.Values(l.Paths)))
			if len(l.Hosts) > 0 {
				text = slices.Concat(text, []string{""}, slices.Sorted(slices.Values(l.Hosts)))
			}
			blocks = append(blocks, block{judge.Origin{Host: strings.Join(text, " ")}, home})
		}
		return blocks
	})
	return s, nil
}

// Places returns the lines of the limits.
func (s *Set) Places() (list []*judge.Place) {
	for i := range s.list {
		for n := range s.list[i].bounds {
			if place := &s.list[i].bounds[n].place; place.Text != "" {
				list = append(list, place)
			}
		}
	}
	return list
}

// rolesIn returns the roles of the crawlers of a registry.
func (s *Set) rolesIn(registry *crawler.Registry) [][]role {
	if known := s.roles.Load(); known != nil && known.registry == registry {
		return known.of
	}
	all := &roles{registry: registry, of: make([][]role, len(s.list))}
	for i := range s.list {
		for row := range registry.All() {
			all.of[i] = append(all.of[i], s.list[i].roleOf(row, registry))
		}
	}
	s.roles.Store(all)
	return all.of
}

// roleIn returns the role of a subject in a limit that has roles.
func roleIn(roles []role, s *judge.Subject) role {
	if s.Agent.Crawler == nil || s.Claim.State == claim.Impostor {
		return held
	}
	return roles[s.Agent.Crawler.Index()]
}

// each calls f with each subject of a request that is let through, and each limit that holds
// it. It allocates nothing if f does not outlive the call.
func (s *Set) each(r *judge.Request, d *judge.Decision, f func(subject, limit int, as role)) {
	if d.Action != judge.Pass || !d.AnyBound() {
		return
	}
	settings := d.Rules.Compiled()
	at := settings.Disallowing(s.groups, r.Target)
	if at == 0 {
		return
	}
	all := s.rolesIn(settings.Registry)
	for subject := range d.Len() {
		if !d.At(subject).Bound {
			continue
		}
		for i := range s.list {
			if l := &s.list[i]; at>>i&1 == 0 || len(l.Hosts) > 0 && !slices.Contains(l.Hosts, r.Origin.Host) {
				continue
			}
			if as := roleIn(all[i], d.At(subject)); as != free {
				f(subject, i, as)
			}
		}
	}
}

// Lines returns the lines of the limits that hold a request that is let through.
func (s *Set) Lines(r *judge.Request, d *judge.Decision) (list []*judge.Place) {
	s.each(r, d, func(_, limit int, _ role) {
		for n := range s.list[limit].bounds {
			if place := &s.list[limit].bounds[n].place; place.Text != "" && !slices.Contains(list, place) {
				list = append(list, place)
			}
		}
	})
	return list
}

// AtOnce returns a line for requests at once that holds a request that is let through; nil
// if none does.
func (s *Set) AtOnce(r *judge.Request, d *judge.Decision) (line *judge.Place) {
	s.each(r, d, func(_, limit int, _ role) {
		for n := range s.list[limit].bounds {
			if b := &s.list[limit].bounds[n]; b.atOnce > 0 && line == nil {
				line = &b.place
			}
		}
	})
	return line
}

// firstSeed is the first seed of hashes for keys: up to 99. Package enforce has others.
const firstSeed = 61

// key returns the key of the budget, or of the requests at once, that a request uses of
// line n of limit i. Like the budget of a crawler, the one of each crawler can be that of a
// client's address. Clients that are verified do not share it with those that only claim to
// be the crawler.
func (s *Set) key(r *judge.Request, settings *judge.Compiled, by *judge.Subject, i, n int, of pool) throttle.Key {
	seed, block := firstSeed+2*uint8(n), &s.blocks()[i]
	if settings.ModeOf(r).Monitors(&by.Agent) {
		seed++
	}
	if s.list[i].bounds[n].each {
		k := throttle.KeyOf(block.Hash(seed+8*uint8(by.Claim.State), by.Agent.Name()))
		return settings.AgentKey(r, &by.Agent, false, k.In(block.home))
	}
	return throttle.KeyOf(block.Hash(seed+8*uint8(of), "")).In(block.home)
}

// Budgets returns the budgets that a crawler can use. verifiable says that claims to be it
// can be verified.
func (s *Set) Budgets(rules *judge.Rules, a *crawler.Agent, verifiable bool) (list []enforce.Budget) {
	settings := rules.Compiled()
	if !settings.Limitable(a, rules.Group(a)) {
		return nil
	}
	states := []claim.State{claim.NoMethod}
	if verifiable {
		states = []claim.State{claim.Verified, claim.Unverified}
	}
	all := s.rolesIn(settings.Registry)
	for i := range s.list {
		for _, state := range states {
			by := &judge.Subject{Agent: *a, Claim: claim.Result{State: state}}
			as := roleIn(all[i], by)
			if as == free {
				continue
			}
			for n := range s.list[i].bounds {
				bound := &s.list[i].bounds[n]
				if bound.place.Text == "" {
					continue
				}
				b := enforce.Budget{Rules: rules, Limits: bound.rate, Line: &bound.place, AtOnce: bound.atOnce, Pool: state == claim.Unverified}
				b.Key = s.key(new(judge.Request), settings, by, i, n, as.poolOf(by))
				if !bound.each {
					b.Sharers = poolNames[as.poolOf(by)]
				}
				b.PerAddr = b.Sharers == "" && (a.RunByAnyone() || settings.PerIP)
				b.InFlight, _ = s.turns.add(b.Key, 0, 0)
				list = append(list, b)
				if bound.half != nil && as == held && isInvented(a) {
					b.Key = s.key(new(judge.Request), settings, by, i, n, poolInvented)
					b.Limits, b.Sharers = bound.half, poolNames[poolInvented]
					list = append(list, b)
				}
			}
		}
	}
	return list
}

// leastCame is the least time for which invented names get half after a crawler came that
// nobody can invent.
const leastCame = time.Minute

// halves notes that a subject came which limit i holds, and reports whether it gets half of
// what crawlers share: it has a name that anybody can invent, and others came in the time of
// the rate. Otherwise many names would shut out all crawlers that have only one.
func (l *compiled) halves(now time.Time, by *judge.Subject) bool {
	since := time.Duration(now.UnixNano() - l.came.Load()).Abs() // a clock can be set back
	if isInvented(&by.Agent) {
		return since <= max(l.All.Per, leastCame)
	}
	if since >= time.Second {
		l.came.Store(now.UnixNano())
	}
	return false
}
