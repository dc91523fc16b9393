package shed

import (
	"slices"
	"testing"
	"time"
)

// every calls do n times a second, up to a time.
func (b *backend) every(n int, until int64, do func()) {
	if b.now < until {
		do()
		b.at(b.now+second/int64(n), func() { b.every(n, until, do) })
	}
}

// Requests with a body count for a quarter of in_flight, however many they are.
func TestIdleUploads(t *testing.T) {
	load, now := newLoad(8), begin
	var uploads []Place
	for range 40 {
		uploads = append(uploads, load.Enter(now, true))
	}
	robot := func() (refused bool) {
		now += second
		place, ok := load.EnterRobot(now, stepNamed("ai-*"), 1)
		if ok {
			load.Leave(place)
		}
		return !ok
	}
	for range 60 {
		if robot() || load.IsBusy() {
			t.Fatal("idle bodies keep robots out")
		}
	}
	if n := load.State(now).InFlight; n != 2 {
		t.Errorf("%d requests count, want a quarter of 8", n)
	}
	for _, place := range uploads {
		load.Leave(place)
	}
	if n := load.inFlight.Load() + load.uploads.Load(); n != 0 {
		t.Errorf("%d at the end", n)
	}
}

// Of an address that came with a search engine's name for a day, at most a fifth is
// refused, whatever strangers do with this name; and it is not forgotten because of
// them.
func TestStrangersTakeNoPlacesOfKnownAddresses(t *testing.T) {
	load, now := newLoad(4), begin
	engine := func(client uint64) (Place, bool) { return load.EnterRobot(now, stepNamed("search"), client<<40) }
	for range 25 {
		if place, ok := engine(1); ok {
			load.Leave(place)
		}
		now += 3600 * second
	}
	for i := range uint64(100_000) {
		load.isKnown((100+i)<<40, now)
	}
	for range 5 {
		load.Enter(now, false)
	}
	for load.level.Load() <= int32(claimStep) { // slow ones of strangers
		for i := range uint64(20) {
			engine(100 + i)
			engine(200 + i)
		}
		now += second / 4
	}
	served, strangers := 0, 0
	for i := range uint64(100) {
		if _, ok := engine(300 + i); ok {
			strangers++
		}
		place, ok := engine(1)
		if ok {
			served++
			load.Leave(place)
		}
		now += second / 2
	}
	if served < 80 || strangers > 0 {
		t.Errorf("%d of 100 requests of the known address were served, and %d of strangers", served, strangers)
	}
	now += 25 * 3600 * second
	for range 2 {
		if load.isKnown(1<<40, now) {
			t.Error("an address is known after a day without a request")
		}
	}
}

// Where browsers are the load, robots are not refused, and the server is busy.
func TestFewRobotsAreNotRefused(t *testing.T) {
	b := newBackend(newLoad(8))
	until := begin + 120*second
	b.every(150, until, func() {
		place := b.load.Enter(b.now, false)
		b.request(func() { b.load.Leave(place) })
	})
	b.at(begin+10*second, func() {
		b.every(2, until, func() { b.robot("feed", stepNamed("preview"), 3600*second, b.now+1) })
	})
	b.run(begin + 110*second)
	s := b.load.State(b.now)
	if b.refused["feed"] > 0 || s.Since.IsZero() || !s.Few || len(s.Refused) > 0 || s.Robots < 18 || s.Robots > 20 || s.All < 70*s.Robots {
		t.Errorf("%d feeds are refused, %+v", b.refused["feed"], s)
	}
}

// A step that does not lower the load within a minute is given back, and tried again
// after five minutes.
func TestUselessStepsAreGivenBack(t *testing.T) {
	b := newBackend(newLoad(8))
	until := begin + 600*second
	for range 20 { // people whose answers take forever
		b.load.Enter(begin, false)
	}
	var refusedAt []int64
	b.every(8, until, func() { b.load.Leave(b.load.Enter(b.now, false)) })
	b.every(4, until, func() {
		b.load.EnterRobot(b.now, stepNamed("preview"), 1)
		if slices.Contains(b.load.State(b.now).Refused, Steps[stepNamed("preview")]) {
			refusedAt = append(refusedAt, (b.now-begin)/second)
		}
	})
	b.run(until)
	var periods []int64 // begin and end
	for i, at := range refusedAt {
		if i == 0 || at > refusedAt[i-1]+1 {
			periods = append(periods, at, at)
		}
		periods[len(periods)-1] = at
	}
	if len(periods) != 4 || periods[0] > 5 || periods[1]-periods[0] > 61 || periods[2]-periods[1] < 299 || periods[2]-periods[1] > 302 || periods[3]-periods[2] > 61 {
		t.Errorf("refused in these seconds: %v", periods)
	}
	if b.load.State(b.now).Since.IsZero() {
		t.Error("the server is not busy")
	}
}

// stall lets people, and robots of four kinds, send requests to a back end that answers
// nothing for ten minutes, and then everything again. Clients wait for a minute.
type stall struct {
	*backend
	from, until int64
}

func newStall(load *Load) *stall {
	return &stall{newBackend(load), begin + 60*second, begin + 660*second}
}

func (s *stall) isOn() bool { return s.from <= s.now && s.now < s.until }

func (s *stall) person() {
	arrived := s.now
	s.client++
	place := s.load.Enter(s.now, false)
	s.answer(func(ok bool) {
		s.load.Leave(place)
		s.waits, s.arrivals = append(s.waits, s.now-arrived), append(s.arrivals, arrived)
	})
}

func (s *stall) robot(name string, kind int) {
	if place, ok := s.load.EnterRobot(s.now, kind, 1); ok {
		s.served[name]++
		s.answer(func(bool) { s.load.Leave(place) })
	} else {
		s.refused[name]++
	}
}

// answer calls answered after the request was, or after a client gave up.
func (s *stall) answer(answered func(ok bool)) {
	if !s.isOn() {
		s.request(func() { answered(true) })
		return
	}
	s.at(min(s.now+60*second, s.until), func() { answered(false) })
}

// While a back end answers nothing, robots are refused for a minute, because that does
// not help, and again in each sixth minute. Search verifiedStep lose a fifth at most. When it
// answers again, all are served.
func TestStalledBackEnd(t *testing.T) {
	s := newStall(newLoad(7))
	until := begin + 900*second
	s.every(10, until, s.person)
	s.every(3, until, func() { s.robot("ai", stepNamed("ai-*")) })
	s.every(1, until, func() { s.robot("feed", stepNamed("preview")) })
	s.every(10, until, func() { s.robot("verified", verifiedStep) })
	s.run(s.until)
	for name, most := range map[string]int{"ai": 24, "feed": 24, "verified": 20} {
		if lost := 100 * s.refused[name] / (s.refused[name] + s.served[name]); lost > most || lost == 0 {
			t.Errorf("%s lost %d %% of its requests", name, lost)
		}
	}
	s.run(s.until + 10*second)
	clear(s.refused)
	if s.run(until); s.refused["ai"]+s.refused["feed"] > 0 {
		t.Errorf("ten seconds after the stall: refused %v", s.refused)
	}
}

// A step that was given back is refused again as soon as its robots are the load.
func TestGivenBackStepIsTriedAgain(t *testing.T) {
	s := newStall(newLoad(8))
	s.until = begin + 180*second
	until := begin + 400*second
	s.every(20, until, s.person)
	s.every(4, s.until, func() { s.robot("ai", stepNamed("ai-*")) })
	s.run(s.until - second)
	if !s.load.useless.Load() {
		t.Fatalf("no step was given back")
	}
	for range 200 {
		s.at(s.until+1, func() { s.backend.robot("ai", stepNamed("ai-*"), second, until) })
	}
	s.run(until + 10*second)
	if p99 := s.p99(begin+240*second, until); p99 > time.Second {
		t.Errorf("people's p99 is %v a minute after the robots came", p99)
	}
}

// A burst of three feeds escalates nothing, with any small in_flight.
func TestABurstOfFeeds(t *testing.T) {
	for inFlight := 1; inFlight <= 8; inFlight++ {
		b := newBackend(newLoad(inFlight))
		b.workers = 1
		until := begin + 300*second
		b.every(1, until, func() {
			if b.now/second%30 == 0 {
				for range 3 {
					b.robot("feed", stepNamed("preview"), second, b.now+1)
				}
			}
			if b.load.IsBusy() || b.load.level.Load() > 0 {
				t.Fatalf("in_flight %d: three feeds make the server busy", inFlight)
			}
		})
		b.run(until)
	}
}
