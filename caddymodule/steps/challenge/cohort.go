package challenge

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// A cohort is the clients with one exact User-Agent. One that storms the paths of the check,
// and hardly visits other pages, counts like lone addresses, whatever it fetches. One that
// passes the check and whose passes are used once is only named: nothing here holds it.
//
// User-Agents are counted in cells, by a keyed hash: what shares a cell with a storm adds a
// 256th of the others to it.
const (
	cohortCells  = 256
	cohortFactor = 5       // by how much its share of pages here exceeds that of the others
	leastOthers  = 50      // pages of the others elsewhere, which say something
	era          = 10 * 60 // in seconds; after one, all counts are halved
	backWithin   = era     // after its first use, a pass that comes again is used more than once
	leastUsed    = 200     // passes in an era that say something
	maxAgent     = 256     // octets of a User-Agent that are kept
)

// cohorts counts the pages of a Storm by User-Agent. It is safe for concurrent use.
type cohorts struct {
	cells  [cohortCells]cohortCell
	storms atomic.Pointer[cohortCell] // the one that storms; nil if none does
	now    atomic.Uint32              // the era of the last look
	once   atomic.Pointer[[]Cohort]
}

// cohortCell counts the User-Agents with a hash.
type cohortCell struct {
	here, elsewhere atomic.Int32    // pages on the paths of the check, and others
	passes, back    [3]atomic.Int32 // passes by the era of their first use, and those of them that came back
	agent           atomic.Pointer[string]
	votes           atomic.Int32 // for agent: the most frequent one, if it has most pages
}

// Cohort is one whose passes are used once.
type Cohort struct {
	UserAgent    string
	Passes, Back int // in ten minutes, and those that came back
	// Elsewhere is how many of a thousand other pages went to it; -1 if too few are known.
	Elsewhere int
}

// cellOf returns the cell of a User-Agent.
func (c *cohorts) cellOf(seed maphash.Seed, agent string) *cohortCell {
	return &c.cells[maphash.String(seed, agent)%cohortCells]
}

// counts counts a page on the paths of the check.
func (c *cohortCell) counts(agent string) {
	c.here.Add(1)
	agent = agent[:min(len(agent), maxAgent)]
	switch known := c.agent.Load(); {
	case known != nil && *known == agent:
		c.votes.Add(1)
	case known == nil || c.votes.Add(-1) < 0:
		c.agent.Store(new(strings.Clone(agent)))
		c.votes.Store(1)
	}
}

// used counts a pass that is used for the first time, at a time.
func (c *cohortCell) used(at uint32) { c.passes[at/era%3].Add(1) }

// cameBack counts a pass that is used again, by the time of its first use.
func (c *cohortCell) cameBack(first uint32) { c.back[first/era%3].Add(1) }

// look finds the cohort that storms and, once in an era, those whose passes are used once.
// It is called once a second, by one goroutine.
func (c *cohorts) look(now uint32, over int) {
	if was := c.now.Swap(now / era); was != now/era {
		c.begin(now/era, now/era == was+1)
	}
	var top *cohortCell
	here, elsewhere := 0, 0
	for i := range c.cells {
		one := &c.cells[i]
		here, elsewhere = here+int(one.here.Load()), elsewhere+int(one.elsewhere.Load())
		if top == nil || one.here.Load() > top.here.Load() {
			top = one
		}
	}
	own, ownElsewhere := int(top.here.Load()), max(1, int(top.elsewhere.Load()))
	here, elsewhere = here-own, elsewhere-ownElsewhere
	if own <= over || elsewhere < leastOthers || own*elsewhere < cohortFactor*here*ownElsewhere {
		top = nil
	}
	c.storms.Store(top)
}

// begin begins an era. All passes of the one before the last have had the time to come back.
func (c *cohorts) begin(now uint32, follows bool) {
	elsewhere := 0
	for i := range c.cells {
		elsewhere += int(c.cells[i].elsewhere.Load())
	}
	var once []Cohort
	for i := range c.cells {
		one := &c.cells[i]
		slot := (now + 1) % 3 // that of two eras ago
		passes, back := int(one.passes[slot].Load()), int(one.back[slot].Load())
		if agent := one.agent.Load(); follows && agent != nil && passes >= leastUsed && 10*back < passes {
			cohort := Cohort{UserAgent: *agent, Passes: passes, Back: back, Elsewhere: -1}
			if elsewhere >= leastOthers {
				cohort.Elsewhere = 1000 * int(one.elsewhere.Load()) / elsewhere
			}
			once = append(once, cohort)
		}
		for slot := range one.passes {
			if !follows || uint32(slot) == now%3 {
				one.passes[slot].Store(0)
				one.back[slot].Store(0)
			}
		}
		one.here.Store(one.here.Load() / 2)
		one.elsewhere.Store(one.elsewhere.Load() / 2)
	}
	c.once.Store(&once)
}

// Once returns the cohorts whose passes are used once.
func (c *cohorts) Once() []Cohort {
	if once := c.once.Load(); once != nil {
		return *once
	}
	return nil
}
