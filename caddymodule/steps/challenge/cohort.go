package challenge

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// A cohort is the clients with one exact User-Agent. One that storms the paths of the check,
// and hardly visits other pages, counts like lone addresses, whatever it fetches. One that
// passes the check is only named: nothing here holds it.
//
// User-Agents are counted in cells, by a keyed hash: what shares a cell with a storm adds a
// 256th of the others to it.
const (
	cohortCells  = 256
	cohortFactor = 5       // by how much its share of pages here exceeds that of the others
	leastOthers  = 50      // pages of the others elsewhere, which say something
	era          = 10 * 60 // in seconds; after one, all counts are halved
	maxKept      = 256     // octets of a User-Agent that are kept
)

// cohorts counts the pages of a Storm by User-Agent. It is safe for concurrent use.
type cohorts struct {
	cells  [cohortCells]cohortCell
	storms atomic.Pointer[cohortCell] // the one that storms; nil if none does
	era    atomic.Uint32              // of the last look
}

// cohortCell counts the User-Agents with a hash.
type cohortCell struct {
	here, elsewhere atomic.Int32 // pages on the paths of the check, and others
	agent           atomic.Pointer[string]
	votes           atomic.Int32 // for agent: the most frequent one, if it has most pages
}

// cellOf returns the cell of a User-Agent.
func (c *cohorts) cellOf(seed maphash.Seed, agent string) *cohortCell {
	return &c.cells[maphash.String(seed, agent)%cohortCells]
}

// counts counts a page on the paths of the check.
func (c *cohortCell) counts(agent string) {
	c.here.Add(1)
	agent = agent[:min(len(agent), maxKept)]
	switch known := c.agent.Load(); {
	case known != nil && *known == agent:
		c.votes.Add(1)
	case known == nil || c.votes.Add(-1) < 0:
		c.agent.Store(new(strings.Clone(agent)))
		c.votes.Store(1)
	}
}

// look finds the cohort that storms. It is called once a second, by one goroutine.
func (c *cohorts) look(now uint32, over int) {
	if c.era.Swap(now/era) != now/era {
		for i := range c.cells {
			one := &c.cells[i]
			one.here.Store(one.here.Load() / 2)
			one.elsewhere.Store(one.elsewhere.Load() / 2)
		}
	}
	top, here, elsewhere := c.top()
	own, ownElsewhere := int(top.here.Load()), max(1, int(top.elsewhere.Load()))
	here, elsewhere = here-own, elsewhere-ownElsewhere
	if own <= over || elsewhere < leastOthers || own*elsewhere < cohortFactor*here*ownElsewhere {
		top = nil
	}
	c.storms.Store(top)
}

// top returns the cell with most pages on the paths of the check, and how many pages all have
// there and elsewhere.
func (c *cohorts) top() (top *cohortCell, here, elsewhere int) {
	top = &c.cells[0]
	for i := range c.cells {
		one := &c.cells[i]
		here, elsewhere = here+int(one.here.Load()), elsewhere+int(one.elsewhere.Load())
		if one.here.Load() > top.here.Load() {
			top = one
		}
	}
	return top, here, elsewhere
}
