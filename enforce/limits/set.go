package limits

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Set has the limits of a site. It is safe for concurrent use.
type Set struct {
	// Shortest is the shortest time of a rate; 0 if there are only requests at once.
	Shortest time.Duration

	lines  []line
	groups []*robots.Group // disallow the paths of the limits; nil for all paths
	turns  *Turns
}

// New returns a Set for the hosts of a site. hosts may be nil, and is called once requests
// come. turns counts requests at once; if it is nil, they are not limited. The error says what
// is wrong with list.
func New(list []Limit, hosts func() []string, turns *Turns) (*Set, error) {
	if len(list) > Max {
		return nil, fmt.Errorf("there are %d limits: at most %d are possible", len(list), Max)
	}
	s := &Set{turns: turns}
	for i := range list {
		l, scope := &limit{Limit: list[i], index: i}, list[i].scope()
		if slices.ContainsFunc(list[:i], func(other Limit) bool { return slices.Equal(other.scope(), scope) }) {
			return nil, fmt.Errorf("%s is given twice: write one block with the lines of both", l.name())
		}
		group, err := judge.PathGroup(l.Paths)
		if err != nil {
			return nil, fmt.Errorf("limit: %w", err)
		}
		lines, err := l.lines()
		if err != nil {
			return nil, fmt.Errorf("limit: %w", err)
		}
		l.block = sync.OnceValue(func() block {
			var names []string
			if hosts != nil {
				names = slices.Sorted(slices.Values(hosts()))
			}
			text := slices.Concat(names, []string{""}, scope)
			return block{judge.Origin{Host: strings.Join(text, " ")}, judge.Home(names)}
		})
		s.groups = append(s.groups, group)
		s.lines = append(s.lines, lines...)
	}
	for _, l := range s.lines {
		if l.per > 0 && (s.Shortest == 0 || l.per < s.Shortest) {
			s.Shortest = l.per
		}
	}
	return s, nil
}

// Places returns the lines of the limits.
func (s *Set) Places() (list []*judge.Place) {
	for i := range s.lines {
		if !s.lines[i].invented {
			list = append(list, s.lines[i].place)
		}
	}
	return list
}

// hold is a line that holds a request, because of one of its crawlers.
type hold struct {
	*line
	subject int // for judge.Decision.At
}

// holds returns the lines that hold a request that is let through, for each of its crawlers.
func (s *Set) holds(r *judge.Request, d *judge.Decision) iter.Seq[hold] {
	return func(yield func(hold) bool) {
		if d.Action != judge.Pass || !d.AnyBound() {
			return
		}
		settings := d.Rules.Compiled()
		at := settings.Disallowing(s.groups, r.Target)
		for subject := range d.Len() {
			by := d.At(subject)
			for i := range s.lines {
				l := &s.lines[i]
				if !by.Bound || at>>l.index&1 == 0 || len(l.Hosts) > 0 && !slices.Contains(l.Hosts, r.Origin.Host) {
					continue
				}
				if l.holds(by, settings.Registry) && !yield(hold{l, subject}) {
					return
				}
			}
		}
	}
}

// Lines returns the lines of the limits that hold a request that is let through.
func (s *Set) Lines(r *judge.Request, d *judge.Decision) (list []*judge.Place) {
	for h := range s.holds(r, d) {
		if !slices.Contains(list, h.place) {
			list = append(list, h.place)
		}
	}
	return list
}

// AtOnce returns a line for requests at once that holds a request that is let through; nil
// if none does.
func (s *Set) AtOnce(r *judge.Request, d *judge.Decision) *judge.Place {
	for h := range s.holds(r, d) {
		if h.atOnce > 0 {
			return h.place
		}
	}
	return nil
}

// Budgets returns the keys of the budgets that a crawler can use: see enforce.BudgetsOf.
// Requests in flight are not among them.
func (s *Set) Budgets(rules *judge.Rules, a *crawler.Agent, verifiable bool) (keys []throttle.Key, perAddr bool) {
	settings := rules.Compiled()
	if !settings.Limitable(a, rules.Group(a)) {
		return nil, false
	}
	states := []claim.State{claim.NoMethod}
	if verifiable {
		states = []claim.State{claim.Verified, claim.Unverified}
	}
	for i := range s.lines {
		l := &s.lines[i]
		for _, state := range states {
			by := &judge.Subject{Agent: *a, Claim: claim.Result{State: state}}
			switch {
			case l.rate == nil || !l.holds(by, settings.Registry):
			case l.each && (a.RunByAnyone() || settings.PerIP):
				perAddr = true
			default:
				keys = append(keys, l.key(new(judge.Request), settings, by))
			}
		}
	}
	return keys, perAddr
}
