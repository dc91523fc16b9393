package challenge

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// A cohort is the clients with one exact User-Agent. One that storms the paths of the check,
// and hardly visits other pages, counts like lone addresses, whatever it fetches. One that
// passes the check is only named: nothing here holds it.
//
// User-Agents are counted in cells, by a keyed hash: what shares a cell with a storm adds a
// 256th of the others to it.
const (
	cohortCells  = 256
	visitorCells = 512       // by chance, others add 1/512 of all visitors to a count
	cohortFactor = 5         // by how much its share of pages here exceeds that of the others
	leastOthers  = 16        // pages of the others elsewhere, which say something
	era          = 10 * 60   // in seconds; after one, all counts of pages are halved
	eras         = day / era // after which those of visitors are halved
	maxKept      = 256       // octets of a User-Agent that are kept

	// leastVisitors is how many visitors of other pages show that fewer than 1/rareShare of them
	// have a User-Agent. Fewer than fewVisitors say nothing.
	leastVisitors = 100
	fewVisitors   = 20
	rareShare     = 100
)

// cohorts counts the pages of a Storm by User-Agent. It is safe for concurrent use.
type cohorts struct {
	seed     maphash.Seed
	cells    [cohortCells]cohortCell
	visitors [2][visitorCells]atomic.Int32 // addresses that came for other pages, each once a day
	storms   atomic.Pointer[cohortCell]    // the one that storms; nil if none does
	era      atomic.Uint32                 // of the last look
}

// cohortCell counts the User-Agents with a hash.
type cohortCell struct {
	here, elsewhere atomic.Int32 // pages on the paths of the check, and others
	agent           atomic.Pointer[string]
	votes           atomic.Int32 // for agent: the most frequent one, if it has most pages
}

// cellOf returns the cell of a User-Agent.
func (c *cohorts) cellOf(agent string) *cohortCell {
	return &c.cells[maphash.String(c.seed, agent)%cohortCells]
}

// visitorsWith returns two counts of the visitors with a User-Agent, each with those of others by
// chance: the lower one is taken for their number.
func (c *cohorts) visitorsWith(agent string) (one, other *atomic.Int32) {
	sum := maphash.String(c.seed, agent)
	return &c.visitors[0][sum%visitorCells], &c.visitors[1][sum>>32%visitorCells]
}

// counts counts a page on the paths of the check.
func (c *cohortCell) counts(agent string) {
	c.here.Add(1)
	c.vote(agent)
}

// vote notes a page of a User-Agent.
func (c *cohortCell) vote(agent string) {
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
	if before := c.era.Swap(now / era); before != 0 && before != now/era {
		for i := range c.cells {
			one := &c.cells[i]
			one.here.Store(one.here.Load() / 2)
			one.elsewhere.Store(one.elsewhere.Load() / 2)
		}
		if before/eras != now/day {
			for i := range visitorCells {
				c.visitors[0][i].Store(c.visitors[0][i].Load() / 2)
				c.visitors[1][i].Store(c.visitors[1][i].Load() / 2)
			}
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

// name adds to a problem the User-Agent that has more than half of the pages of a storm, and may be a
// fleet's, and the lines that refuse it on the stormed paths, where people hardly have it.
func (s *Storm) name(p *step.Problem, patterns []string) {
	top, all, _ := s.cohorts.top()
	agent, here := top.agent.Load(), int(top.here.Load())
	if agent == nil || 2*here <= all {
		return
	}
	one, other := s.cohorts.visitorsWith(*agent)
	visitors, allVisitors := int(min(one.Load(), other.Load())), 0
	for i := range s.cohorts.visitors[0] {
		allVisitors += int(s.cohorts.visitors[0][i].Load())
	}
	p.Plain = p.Message + "; most of these pages went to one User-Agent"
	p.Message += fmt.Sprintf("; %d %% of these pages went to the User-Agent %s", 100*here/all, strconv.QuoteToASCII(*agent))
	if allVisitors >= fewVisitors {
		p.Message += fmt.Sprintf(", which %d of %s of other pages have", visitors, words.Plural(allVisitors, "visitor", "visitors"))
	}
	isRare := allVisitors >= leastVisitors && rareShare*visitors < allVisitors
	isWhole := len(*agent) < maxKept
	if lines := snippet.Refuse(*agent, patterns); lines != "" && isWhole && isRare {
		const what = "If nobody needs this User-Agent, refuse it on these paths"
		p.Advice += " " + what + "."
		p.Actions = append(p.Actions, statusapi.Action{What: what, Text: lines, Where: statusapi.SiteBlock})
	}
}
