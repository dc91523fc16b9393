package challenge

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// The numbers of a storm. Times are in seconds.
const (
	// lonelyFor is how long after its page an address may take to fetch what the page embeds.
	lonelyFor = 20
	// mostPages is how many pages of an address count in a minute: a person's pace. At this
	// number they count as those of a lone address.
	mostPages = 20
	// atOnce is by how much the pages of lone addresses exceed `over` if they count before
	// it is known who fetches embedded files.
	atOnce = 10
	// calmFor is how long the pages must be few before the check ends.
	calmFor = 5 * 60
	// leastBusy is how many pages of lone addresses in a minute, or in a shorter window, say
	// something about the load of a busy server.
	leastBusy = 10
	// samples is how many pages are kept, to say what a storm is after.
	samples = 128
)

// second counts the pages of strangers in a second. Those of lone addresses, and of addresses that
// come faster than people, are in lone too.
type second struct {
	at        atomic.Uint32 // in seconds since 1970
	all, lone atomic.Int32
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
	last      atomic.Uint32 // of the latest page while they still came, for messages
	on        atomic.Bool
	since     atomic.Uint32 // when the check went on or off last
	cohorts   cohorts
	// Since the check went on or off, a CORS preflight got a page: the back end does not know them,
	// and a robot may send its fields.
	knowsNoCORS atomic.Bool

	// Since the check went on: pages shown, clients that came back, and addresses. waiting is how many
	// addresses got the style sheet's cookie since somebody came back with one: a CDN may have removed it.
	asked, passed, addresses, waiting atomic.Int64
	peak                              atomic.Int64 // the most pages of lone addresses in a window

	mu          sync.Mutex // is never waited for
	latest, not pages      // that strangers got, and did not get
}

// pages are the latest pages, at most samples, the oldest at next.
type pages struct {
	list []sample
	next int
}

// sample is a page that an address wanted.
type sample struct {
	address        uint64 // key of what is remembered of it
	host           string // that only a pattern names; "" for that of the storm
	target         string // maxKept octets at most
	isLone, isSure bool   // as it was counted
	isProgram      bool   // it says so
	at             uint32 // in seconds since 1970
	agents         *cohortCell
}

func (s *Storm) start(host string, c *Check, key uint64) {
	s.Host, s.check, s.key, s.cohorts.seed = host, c.id(), key, c.memory.seed
	s.ring = make([]second, s.window()+lonelyFor+1)
}

// window returns the time of `over` in seconds.
func (s *Storm) window() int { return int(s.check.window / time.Second) }

// keep keeps a page as a sample, unless another request does that now.
func (s *Storm) keep(in *pages, a *Arrival) {
	if s.mu.TryLock() {
		target, agents := a.Request.Target, s.cohorts.cellOf(a.bearer.userAgent)
		if a.cell == nil {
			agents.vote(a.bearer.userAgent)
		}
		one := sample{a.group, "", strings.Clone(target[:min(len(target), maxKept)]), a.counted.isLone, a.counted.sure > 0,
			a.Decision.Agent.Class != crawler.Person, a.now, agents}
		if a.Request.Invented {
			one.host = strings.Clone(a.Request.Origin.Host)
		}
		if len(in.list) < samples {
			in.list = append(in.list, one)
		} else {
			in.list[in.next%samples] = one
		}
		in.next++
		s.mu.Unlock()
	}
}

// kept returns the pages of strangers that are kept: the latest that they got, and those that they
// did not get in this storm. With a host, it returns those of the host alone.
func (s *Storm) kept(host string) (latest, not []sample) {
	isOthers := func(one sample) bool { return host != "" && one.host != host }
	s.mu.Lock()
	defer s.mu.Unlock()
	latest = slices.DeleteFunc(slices.Clone(s.latest.list), isOthers)
	not = slices.DeleteFunc(slices.Clone(s.not.list), func(one sample) bool { return isOthers(one) || one.at < s.since.Load() })
	return latest, not
}

// add adds to the counts of a second, unless they are no longer kept. Counts that another goroutine
// adds while a second begins may be lost.
func (s *Storm) add(at, now uint32, all, lone int32) {
	c := &s.ring[at%uint32(len(s.ring))]
	old := c.at.Load()
	if at == now && old != now && c.at.CompareAndSwap(old, now) {
		c.all.Store(0)
		c.lone.Store(0)
	}
	if c.at.Load() == at {
		c.all.Add(all)
		c.lone.Add(lone)
	}
}

// IsOn reports whether strangers are checked. busy says that the server has more to do
// than it can.
func (s *Storm) IsOn(now uint32, busy func() bool) bool {
	if last := s.evaluated.Load(); last != now && s.evaluated.CompareAndSwap(last, now) {
		s.cohorts.look(now, s.check.over)
		s.evaluate(now, busy != nil && busy())
	}
	return s.on.Load()
}

// evaluate switches the check on or off. It is not known yet which addresses of the last 20
// seconds are lone, so these pages do not count, unless they are very many.
func (s *Storm) evaluate(now uint32, busy bool) {
	all, lone, _ := s.sum(now, lonelyFor)
	latest, latestLone, _ := s.sum(now, 0)
	over := s.check.over
	most := over
	if busy {
		most = min(over, leastBusy*max(minute, s.window())/minute-1)
	}
	storms := lone > most && 2*lone > all || latestLone > atOnce*over && 2*latestLone > latest
	if storms || s.on.Load() && 2*lone >= over {
		s.high.Store(now)
	}
	s.peak.Store(max(s.peak.Load(), int64(lone), int64(latestLone)))
	if latest, isStill := s.goesOn(now); isStill {
		s.last.Store(latest)
	}
	if on := now-s.high.Load() < calmFor; on != s.on.Load() {
		s.asked.Store(0)
		s.passed.Store(0)
		s.addresses.Store(0)
		s.waiting.Store(0)
		s.peak.Store(int64(max(lone, latestLone)))
		s.knowsNoCORS.Store(false)
		s.since.Store(now)
		s.on.Store(on)
	}
}

// goesOn reports whether pages of lone addresses came at a quarter of `over` in the last minute, and
// when the latest did.
func (s *Storm) goesOn(now uint32) (latest uint32, isStill bool) {
	lone, span := 0, min(minute, len(s.ring))
	for i := range s.ring {
		c := &s.ring[i]
		if at, n := c.at.Load(), int(c.lone.Load()); n > 0 && int(now-at) < span {
			lone, latest = lone+n, max(latest, at)
		}
	}
	return latest, 4*lone*s.window() >= s.check.over*span && lone > 0
}

// sum returns the counts of a window that ended some seconds ago, and the seconds from the first of
// them to its end.
func (s *Storm) sum(now uint32, ago int) (all, lone, span int) {
	for i := range s.ring {
		c := &s.ring[i]
		age, pages := int(now-c.at.Load())-ago, int(c.all.Load())
		if age < 0 || age >= s.window() {
			continue
		}
		all, lone = all+pages, lone+int(c.lone.Load())
		if pages > 0 {
			span = max(span, age+1)
		}
	}
	return all, lone, span
}

// perMinute returns how many pages lone addresses got in a minute, from the first in the window to
// the last evaluation.
func (s *Storm) perMinute() int {
	_, lone, span := s.sum(s.evaluated.Load(), lonelyFor)
	return max(0, lone) * minute / max(1, span)
}
