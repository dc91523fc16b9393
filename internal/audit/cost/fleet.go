package cost

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit/target"
)

// Visit is a page that a client with a browser's User-Agent got.
type Visit struct {
	Agent  string // the User-Agent
	Target string
	Client uint64 // by hash; 0 if not known
}

// How many visits are kept, and how many octets of their User-Agents and targets.
const (
	maxVisits = 1 << 12
	maxTarget = 512
)

// MaxAgent is the largest length of a User-Agent of a Fleet, in octets. Longer ones are cut.
const MaxAgent = 256

// Visits are visits of a log: one in so many that at most maxVisits are kept. The zero value has none.
type Visits struct {
	kept    []Visit
	all     int64
	skipped uint // of 2^skipped visits, one is kept
}

// Add adds a visit. It clones what it keeps.
func (v *Visits) Add(agent, target string, client uint64) {
	v.all++
	if v.all&(1<<v.skipped-1) != 0 {
		return
	}
	if len(v.kept) == maxVisits {
		for i := range maxVisits / 2 {
			v.kept[i] = v.kept[2*i+1] // every second one
		}
		v.kept = v.kept[:maxVisits/2]
		v.skipped++
		if v.all&(1<<v.skipped-1) != 0 {
			return
		}
	}
	v.kept = append(v.kept, Visit{strings.Clone(agent[:min(len(agent), MaxAgent)]), strings.Clone(target[:min(len(target), maxTarget)]), client})
}

// Fleet returns the largest fleet of a log, and about how many visits it has of its patterns. It is nil
// if there is none.
func (v *Visits) Fleet() (_ *Fleet, visits int64) {
	f, ok := FindFleet(v.kept)
	if !ok {
		return nil, 0
	}
	return &f, int64(f.Here) << v.skipped
}

// Queries returns targets of visits that have a query.
func (v *Visits) Queries() (list []string) {
	for _, one := range v.kept {
		if strings.Contains(one.Target, "?") {
			list = append(list, one.Target)
		}
	}
	return list
}

// Fleet is the clients with one exact User-Agent that hardly want anything but pages of some
// patterns, which others hardly want: robots, whatever else they fetch, or people who follow one link.
type Fleet struct {
	Agent    string
	Patterns []string // in robots.txt syntax
	// Visits of the patterns and of other pages, with that User-Agent and with others.
	Here, Elsewhere, OthersHere, OthersElsewhere int
	// Clients is the number of clients of Here.
	Clients int
}

const (
	leastVisits = 32 // of a fleet
	leastOthers = 16 // of others to other pages
	fleetFactor = 5  // by how much its share of visits here exceeds that of the others, whose is at most 1/5
	fewAgents   = 8  // those with most visits are looked at
)

// FindFleet returns the largest fleet among visits. ok is false if there is none.
func FindFleet(visits []Visit) (f Fleet, ok bool) {
	targets := make(map[string][]string)
	for _, v := range visits {
		targets[v.Agent] = append(targets[v.Agent], v.Target)
	}
	agents := slices.SortedFunc(maps.Keys(targets), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(targets[b]), len(targets[a])), cmp.Compare(a, b))
	})
	for _, agent := range agents[:min(len(agents), fewAgents)] {
		if len(targets[agent]) < leastVisits {
			break
		}
		var others []string
		for _, v := range visits {
			if v.Agent != agent {
				others = append(others, v.Target)
			}
		}
		one := Fleet{Agent: agent, Patterns: slices.DeleteFunc(Fold(targets[agent], others...), IsWhole)}
		if len(one.Patterns) == 0 {
			continue
		}
		paths, clients := target.Group(one.Patterns...), make(map[uint64]bool)
		for _, v := range visits {
			switch isHere := target.Matches(paths, v.Target); {
			case v.Agent == agent && isHere:
				one.Here++
				clients[v.Client] = true
			case v.Agent == agent:
				one.Elsewhere++
			case isHere:
				one.OthersHere++
			default:
				one.OthersElsewhere++
			}
		}
		one.Clients = len(clients)
		if one.isFleet() && one.Here > f.Here {
			f, ok = one, true
		}
	}
	return f, ok
}

func (f *Fleet) isFleet() bool {
	return f.Here >= leastVisits && f.OthersElsewhere >= leastOthers && f.Here > f.OthersHere &&
		fleetFactor*f.OthersHere <= f.OthersHere+f.OthersElsewhere &&
		f.Here*f.OthersElsewhere >= fleetFactor*max(1, f.OthersHere)*max(1, f.Elsewhere)
}
