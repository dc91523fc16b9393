package challenge

import (
	"sync/atomic"
	"time"
)

// The numbers of a storm. Times are in seconds.
const (
	// lonelyFor is how long after its page an address may take to fetch what the page embeds.
	lonelyFor = 20
	// mostPages is how many pages of an address count in a minute: a person's pace. At this
	// number they count as those of a lone address.
	mostPages = 20
	// newFactor is by how much the pages of addresses that were never seen exceed `over` if
	// they count at once.
	newFactor = 10
	// calmFor is how long the pages must be few before the check ends.
	calmFor = 5 * 60
	// leastBusy is how many pages of lone addresses in a minute say something about the load of
	// a busy server.
	leastBusy = 10
	minute    = 60
)

// second counts the pages of strangers in a second.
type second struct {
	at   atomic.Uint32 // in seconds since 1970
	all  atomic.Int32
	lone atomic.Int32 // of lone addresses, and of those that come faster than people
	new  atomic.Int32 // of lone addresses that were never seen before, one of each
}

// Storm measures how many pages of a check strangers get at an origin, and knows whether the
// check is on. It is safe for concurrent use.
type Storm struct {
	Host string // of the origin; the site's pattern, for hosts that anybody can invent

	check  checkID
	key    uint64
	over   int // pages in window
	window int // in seconds

	ring      []second // of the window or a minute, and the time after it in which it becomes known which addresses are lone
	evaluated atomic.Uint32
	high      atomic.Uint32 // the last second with at least half of over
	on        atomic.Bool
	since     atomic.Uint32 // when the check went on or off last
	networks  embedding
	cohorts   *cohorts
	trouble   trouble
	lone      atomic.Int32 // pages of lone addresses in the window, at the last evaluation

	// Since the check went on: pages shown, and clients that passed, by themselves or with the
	// button.
	asked, passed atomic.Int64
}

func (s *Storm) start(host string, c *Check, key uint64) {
	s.Host, s.check, s.key, s.over, s.window = host, c.id(), key, c.Over, c.seconds()
	s.cohorts = new(cohorts)
	s.ring = make([]second, max(s.window, minute)+lonelyFor+1)
}

// at returns the counts of a second. Counts that another goroutine adds while they begin
// again at 0 may be lost.
func (s *Storm) at(now uint32) *second {
	c := &s.ring[now%uint32(len(s.ring))]
	if at := c.at.Load(); at != now && c.at.CompareAndSwap(at, now) {
		c.all.Store(0)
		c.lone.Store(0)
		c.new.Store(0)
	}
	return c
}

// known returns the counts of a second; nil if they are no longer kept.
func (s *Storm) known(at uint32) *second {
	if c := &s.ring[at%uint32(len(s.ring))]; c.at.Load() == at {
		return c
	}
	return nil
}

// IsOn reports whether strangers are checked. busy says that the server has more to do
// than it can.
func (s *Storm) IsOn(now uint32, busy func() bool) bool {
	if last := s.evaluated.Load(); last != now && s.evaluated.CompareAndSwap(last, now) {
		s.cohorts.look(now, s.over)
		s.evaluate(now, busy != nil && busy())
	}
	return s.on.Load()
}

// sums are numbers of pages.
type sums struct{ all, lone int }

func (n *sums) add(c *second) {
	n.all += int(c.all.Load())
	n.lone += int(c.lone.Load())
}

// mostlyLone reports whether more than half of the pages are those of lone addresses.
func (n *sums) mostlyLone() bool { return 2*n.lone > n.all }

// evaluate switches the check on or off. It is not known yet which addresses of the last 20
// seconds are lone, so these pages do not count, unless very many addresses are new.
func (s *Storm) evaluate(now uint32, busy bool) {
	var window, lastMinute, latest sums
	for i := range s.ring {
		c := &s.ring[i]
		age := now - c.at.Load()
		if age >= lonelyFor && age < uint32(lonelyFor+s.window) {
			window.add(c)
		}
		if age >= lonelyFor && age < lonelyFor+minute {
			lastMinute.add(c)
		}
		if age < uint32(s.window) {
			latest.all, latest.lone = latest.all+int(c.all.Load()), latest.lone+int(c.new.Load())
		}
	}
	s.lone.Store(int32(max(0, window.lone)))
	if s.networks.fewEmbed() { // so loneliness says nothing
		window.lone = window.all
	}
	storms := window.lone > s.over && window.mostlyLone() ||
		latest.lone > newFactor*s.over && latest.mostlyLone() ||
		busy && lastMinute.lone >= leastBusy && lastMinute.mostlyLone()
	on := s.on.Load()
	if storms || on && 2*window.lone >= s.over {
		s.high.Store(now)
	}
	switch {
	case storms && !on:
		s.asked.Store(0)
		s.passed.Store(0)
		s.since.Store(now)
		s.on.Store(true)
	case on && now-s.high.Load() >= calmFor:
		s.on.Store(false)
		s.since.Store(now)
	}
}

// State is the state of a Storm.
type State struct {
	On      bool
	Since   time.Time // when the check went on
	Lone    int       // pages of lone addresses in the time of `over`
	Asked   int       // pages shown since
	Passed  int       // clients that passed since, by themselves or with the button
	Trouble time.Time // since when nobody comes back with the cookie; zero if somebody does
	Once    []Cohort
	Blind   bool // fewer than half of the visitors of other pages fetch embedded files, so loneliness says nothing
}

// State returns the state.
func (s *Storm) State(now time.Time) State {
	seconds := uint32(now.Unix())
	s.IsOn(seconds, nil)
	state := State{
		On: s.on.Load(), Since: time.Unix(int64(s.since.Load()), 0), Lone: int(s.lone.Load()), Asked: int(s.asked.Load()), Passed: int(s.passed.Load()),
		Once: s.cohorts.Once(), Blind: s.networks.fewEmbed(),
	}
	if since, none := s.trouble.noneReturns(seconds); none {
		state.Trouble = since
	}
	return state
}

// counted is a page of a stranger that was counted. The zero value is none.
type counted struct {
	visitor   *visitor // nil if the page was not counted
	cell      *cohortCell
	at, since uint32 // of visitor, when it was counted
	lone      int32  // pages of lone addresses that it counts as
	sure      bool   // these count, whatever the address fetches
	isNew     bool
}

// count counts a page of a stranger. v is what is remembered of what counts as one address.
// sure says that it counts as a lone address's, as it does if its cohort storms; cell is nil for
// a client that names a crawler.
func (s *Storm) count(v *visitor, now uint32, isNew, sure bool, cell *cohortCell) (p counted) {
	sure = sure || cell != nil && cell == s.cohorts.storms.Load()
	v.mu.Lock()
	defer v.mu.Unlock()
	if isPast(v.since, now, minute) {
		v.since, v.pages = now, 0
	}
	if v.pages >= mostPages {
		return p
	}
	v.pages++
	if isPast(v.at, now, lonelyFor) {
		v.at, v.lone, v.isNew, v.taken = now, 0, false, false
	}
	p = counted{visitor: v, cell: cell, at: v.at, since: v.since, sure: sure}
	isLone := v.embedded == 0 || now-v.embedded >= day
	switch {
	case sure:
		p.lone = 1
	case isLone:
		p.lone, p.isNew = 1, isNew
		v.lone, v.isNew = v.lone+1, v.isNew || isNew
		if v.pages == mostPages {
			v.lone = 0 // no embedded file takes them back any more
		}
	case v.pages == mostPages: // the address comes faster than people: all pages of the minute count
		p.lone, p.sure = mostPages, true
	}
	c := s.at(v.at)
	c.all.Add(1)
	c.lone.Add(p.lone)
	if p.isNew {
		c.new.Add(1)
	}
	return p
}

// giveBack takes a page back that was none.
func (s *Storm) giveBack(p *counted) {
	v := p.visitor
	if v == nil {
		return
	}
	p.visitor = nil
	if p.cell != nil {
		p.cell.here.Add(-1)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since == p.since {
		v.pages--
	}
	if v.at == p.at && !p.sure {
		if v.taken {
			p.lone, p.isNew = 0, false
		}
		v.lone, v.isNew = max(0, v.lone-p.lone), v.isNew && !p.isNew
	}
	c := s.known(p.at)
	if c == nil {
		return
	}
	c.all.Add(-1)
	c.lone.Add(-p.lone)
	if p.isNew {
		c.new.Add(-1)
	}
}

// embeds notes that an address fetched an embedded file: it is not lone.
func (s *Storm) embeds(v *visitor, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.embedded = now
	if v.lone == 0 || isPast(v.at, now, lonelyFor) {
		return
	}
	if c := s.known(v.at); c != nil {
		c.lone.Add(-v.lone)
		if v.isNew {
			c.new.Add(-1)
		}
	}
	v.lone, v.isNew, v.taken = 0, false, true
}

// embedding counts the networks that visit a site, and those of them that fetch embedded
// files. It is safe for concurrent use.
type embedding struct{ visitors, embedding atomic.Uint32 }

const (
	leastNetworks = 50      // which say something about the others
	mostNetworks  = 1 << 16 // at this number both counts are halved, so that a change of the site has an effect
)

// addVisitor counts a network that visits.
func (c *embedding) addVisitor() {
	if c.visitors.Add(1) >= mostNetworks {
		c.visitors.Store(mostNetworks / 2)
		c.embedding.Store(c.embedding.Load() / 2)
	}
}

// fewEmbed reports whether fewer than half of the networks are known to do it.
func (c *embedding) fewEmbed() bool {
	n := c.visitors.Load()
	return n >= leastNetworks && c.embedding.Load() < n/2
}
