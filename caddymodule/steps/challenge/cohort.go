package challenge

import (
	"fmt"
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
	leastUsed    = 200     // passes that say something
	maxAgent     = 256     // octets of a User-Agent that are kept
)

// cohorts counts the pages of a Storm by User-Agent. It is safe for concurrent use.
type cohorts struct {
	cells  [cohortCells]cohortCell
	storms atomic.Pointer[cohortCell] // the one that storms; nil if none does
	era    atomic.Uint32              // of the last look
	once   atomic.Pointer[[]Cohort]   // those whose passes are used once
}

// cohortCell counts the User-Agents with a hash.
type cohortCell struct {
	here, elsewhere atomic.Int32 // pages on the paths of the check, and others
	passes, back    atomic.Int32 // passes that were used, and those of them that came back
	agent           atomic.Pointer[string]
	votes           atomic.Int32 // for agent: the most frequent one, if it has most pages
}

// Cohort is one whose passes are used once.
type Cohort struct {
	UserAgent    string
	Passes, Back int // those that were used, and those that came back
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

// look finds the cohort that storms and, once in an era, those whose passes are used once.
// It is called once a second, by one goroutine.
func (c *cohorts) look(now uint32, over int) {
	var top *cohortCell
	here, elsewhere := 0, 0
	for i := range c.cells {
		one := &c.cells[i]
		here, elsewhere = here+int(one.here.Load()), elsewhere+int(one.elsewhere.Load())
		if top == nil || one.here.Load() > top.here.Load() {
			top = one
		}
	}
	if c.era.Swap(now/era) != now/era {
		c.endEra(elsewhere)
	}
	own, ownElsewhere := int(top.here.Load()), max(1, int(top.elsewhere.Load()))
	here, elsewhere = here-own, elsewhere-ownElsewhere
	if own <= over || elsewhere < leastOthers || own*elsewhere < cohortFactor*here*ownElsewhere {
		top = nil
	}
	c.storms.Store(top)
}

// endEra finds those whose passes are used once, and halves all counts. elsewhere is the number of
// pages elsewhere.
func (c *cohorts) endEra(elsewhere int) {
	var once []Cohort
	for i := range c.cells {
		one := &c.cells[i]
		passes, back := int(one.passes.Load()), int(one.back.Load())
		if agent := one.agent.Load(); agent != nil && passes >= leastUsed && 10*back < passes {
			cohort := Cohort{UserAgent: *agent, Passes: passes, Back: back, Elsewhere: -1}
			if elsewhere >= leastOthers {
				cohort.Elsewhere = 1000 * int(one.elsewhere.Load()) / elsewhere
			}
			once = append(once, cohort)
		}
		for _, count := range []*atomic.Int32{&one.here, &one.elsewhere, &one.passes, &one.back} {
			count.Store(count.Load() / 2)
		}
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

// elsewhere says how many of the pages elsewhere went to the cohort.
func (c *Cohort) elsewhere() string {
	if c.Elsewhere < 0 {
		return ""
	}
	return fmt.Sprintf("; %d.%d %% of the other pages of the host went to it", c.Elsewhere/10, c.Elsewhere%10)
}

// rareElsewhere is below how many of a thousand other pages of a host a cohort is one that
// may be refused.
const rareElsewhere = 10

// refusal returns the lines with which Caddy refuses a cohort on the paths of the check; ""
// if many others have its User-Agent, or if it or the paths can't be written so.
func (c *Challenge) refusal(cohort *Cohort) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._-/;:,()+=@"
	if cohort.Elsewhere < 0 || cohort.Elsewhere >= rareElsewhere || len(cohort.UserAgent) >= maxAgent || strings.Trim(cohort.UserAgent, plain) != "" {
		return ""
	}
	where := "robots('disallowed')"
	if !c.Disallowed {
		var paths []string
		for _, path := range c.Paths {
			path = strings.TrimRight(path, "*")
			if strings.ContainsAny(path, "*$?'`\\") {
				return ""
			}
			paths = append(paths, "'"+path+"*'")
		}
		where = "path(" + strings.Join(paths, ", ") + ")"
	}
	return "@fleet `header({'User-Agent': '" + cohort.UserAgent + "'}) && " + where + "`\nrespond @fleet 403"
}
