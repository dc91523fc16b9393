package challenge

import (
	"sync"
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
	// leastBusy is how many pages of lone addresses in a minute, or in a shorter window, say
	// something about the load of a busy server.
	leastBusy = 10
	// samples is how many pages of lone addresses are kept, to say what a storm is after.
	samples = 64
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

	check checkID
	key   uint64
	seen  atomic.Uint32 // when the latest request came

	ring      []second // of the window, and the time after it in which it becomes known which addresses are lone
	evaluated atomic.Uint32
	high      atomic.Uint32 // the last second with at least half of over
	on        atomic.Bool
	since     atomic.Uint32 // when the check went on or off last
	lone      atomic.Int32  // pages of lone addresses in the window, at the last evaluation
	cohorts   *cohorts      // nil where storms are only told

	// Since the check went on: pages shown, and clients that passed, by themselves or with the
	// button. waiting is how many addresses got the style sheet's cookie since somebody came back
	// with one: a CDN may have removed it.
	asked, passed, waiting atomic.Int64

	mu     sync.Mutex // is never waited for
	latest [samples]sample
	next   int
}

// sample is a page of an address that may be lone.
type sample struct{ target, userAgent string }

func (s *Storm) start(host string, c *Check, key uint64) {
	s.Host, s.check, s.key = host, c.id(), key
	s.ring = make([]second, s.window()+lonelyFor+1)
	if c.Page != nil {
		s.cohorts = new(cohorts)
	}
}

// window returns the time of `over` in seconds.
func (s *Storm) window() int { return int(s.check.window / time.Second) }

// keep keeps a page as a sample, unless another request does that now.
func (s *Storm) keep(page sample) {
	if s.mu.TryLock() {
		s.latest[s.next%samples] = page
		s.next++
		s.mu.Unlock()
	}
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
		if s.cohorts != nil {
			s.cohorts.look(now, s.check.over)
		}
		s.evaluate(now, busy != nil && busy())
	}
	return s.on.Load()
}

// evaluate switches the check on or off. It is not known yet which addresses of the last 20
// seconds are lone, so these pages do not count, unless very many addresses are new.
func (s *Storm) evaluate(now uint32, busy bool) {
	var all, lone, latest, fresh int
	for i := range s.ring {
		c := &s.ring[i]
		age := int(now - c.at.Load())
		if age >= lonelyFor && age < lonelyFor+s.window() {
			all, lone = all+int(c.all.Load()), lone+int(c.lone.Load())
		}
		if age < s.window() {
			latest, fresh = latest+int(c.all.Load()), fresh+int(c.new.Load())
		}
	}
	s.lone.Store(int32(max(0, lone)))
	over := s.check.over
	if busy {
		over = min(over, leastBusy*max(minute, s.window())/minute-1)
	}
	storms := lone > over && 2*lone > all || fresh > newFactor*s.check.over && 2*fresh > latest
	on := s.on.Load()
	if storms || on && 2*lone >= s.check.over {
		s.high.Store(now)
	}
	switch {
	case storms && !on:
		s.asked.Store(0)
		s.passed.Store(0)
		s.waiting.Store(0)
		s.since.Store(now)
		s.on.Store(true)
	case on && now-s.high.Load() >= calmFor:
		s.on.Store(false)
		s.since.Store(now)
	}
}

// counted is a page of a stranger that was counted. The zero value is none.
type counted struct {
	visitor   *memo // nil if the page was not counted
	cell      *cohortCell
	at, since uint32 // of visitor, when it was counted
	lone      int32  // pages of lone addresses that it counts as
	sure      bool   // these count, whatever the address fetches
	isNew     bool
}

// count counts a page of a stranger. v is what is remembered of what counts as one address.
// sure says that it counts as a lone address's, as it does if its cohort storms; cell is nil for
// a client that names a crawler.
func (s *Storm) count(v *memo, now uint32, isNew, sure bool, cell *cohortCell) (p counted) {
	sure = sure || cell != nil && cell == s.cohorts.storms.Load()
	v.mu.Lock()
	defer v.mu.Unlock()
	if isPast(v.since, now, minute) {
		v.since, v.count = now, 0
	}
	if v.count >= mostPages {
		return p
	}
	v.count++
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
		if v.count == mostPages {
			v.lone = 0 // no embedded file takes them back any more
		}
	case v.count == mostPages: // the address comes faster than people: all pages of the minute count
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
		v.count--
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
func (s *Storm) embeds(v *memo, now uint32) {
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
