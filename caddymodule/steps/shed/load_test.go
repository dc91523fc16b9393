package shed

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

const second = int64(time.Second)

// begin is a time at which simulations begin.
const begin = 1_800_000_000 * second

// event is something that happens in a simulation.
type event struct {
	at int64
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// backend is a simulated back end of ten workers, which take a tenth of a second
// for a request, in the order of arrival. load may be nil.
type backend struct {
	load    *Load
	now     int64
	events  events
	workers int
	running int
	queue   []func()
	random  *rand.Rand

	waits           []int64 // of people, with the time of arrival
	arrivals        []int64
	served, refused map[string]int // robots, by name
	client          uint64         // of the latest person
	changes         int            // of busy
	wasBusy         bool
	firstBusy       int64 // 0 if it never was
}

const work = int64(100 * time.Millisecond)

func newBackend(load *Load) *backend {
	return &backend{load: load, workers: 10, now: begin, random: rand.New(rand.NewPCG(1, 2)), served: make(map[string]int), refused: make(map[string]int)}
}

func (b *backend) at(t int64, do func()) { heap.Push(&b.events, event{t, do}) }

// run runs the simulation up to a time.
func (b *backend) run(until int64) {
	for len(b.events) > 0 && b.events[0].at <= until {
		next := heap.Pop(&b.events).(event)
		b.now = next.at
		next.do()
		if b.load != nil && b.load.IsBusy() != b.wasBusy {
			b.wasBusy = !b.wasBusy
			b.changes++
			b.firstBusy = cmp.Or(b.firstBusy, b.now)
		}
	}
	b.now = until
}

// request lets a worker answer a request, and calls answered then.
func (b *backend) request(answered func()) {
	if b.running == b.workers {
		b.queue = append(b.queue, func() { b.request(answered) })
		return
	}
	b.running++
	b.at(b.now+work, func() {
		b.running--
		if len(b.queue) > 0 {
			first := b.queue[0]
			b.queue = b.queue[1:]
			first()
		}
		answered()
	})
}

// people sends twenty requests of people in a second, up to a time.
func (b *backend) people(until int64) {
	if b.now >= until {
		return
	}
	arrived := b.now
	var place Place
	if b.load != nil {
		b.client++
		place = b.load.Enter(b.now, false)
	}
	b.request(func() {
		if b.load != nil {
			b.load.Leave(place)
		}
		b.waits, b.arrivals = append(b.waits, b.now-arrived), append(b.arrivals, arrived)
	})
	b.at(b.now+int64(b.random.ExpFloat64()*float64(second)/20), func() { b.people(until) })
}

// robot sends one request after another, up to a time. If one is refused, it comes
// again after a pause.
func (b *backend) robot(name string, kind int, pause, until int64) {
	if b.now >= until {
		return
	}
	again := func() { b.robot(name, kind, pause, until) }
	var place Place
	if b.load != nil {
		ok := false
		if place, ok = b.load.EnterRobot(b.now, kind, 1); !ok {
			b.refused[name]++
			b.at(b.now+pause, again)
			return
		}
	}
	b.served[name]++
	b.request(func() {
		if b.load != nil {
			b.load.Leave(place)
		}
		again()
	})
}

// p99 returns the 99th percentile of the waits of people that came in a time.
func (b *backend) p99(from, until int64) time.Duration {
	var list []int64
	for i, at := range b.arrivals {
		if from <= at && at < until {
			list = append(list, b.waits[i])
		}
	}
	slices.Sort(list)
	return time.Duration(list[len(list)*99/100])
}

// stepNamed returns the step of robots of a kind.
func stepNamed(name string) int { return slices.Index(Steps, name) }

func newLoad(inFlight int) *Load {
	return New(inFlight)
}

// overload simulates people, and 200 robots that come at once in the second 10, for
// 60 seconds.
func overload(load *Load, robots int, kind int) *backend {
	b := newBackend(load)
	end := begin + 300*second
	b.people(end)
	for range robots {
		b.at(begin+10*second, func() { b.robot("robot", kind, int64(50*time.Millisecond), begin+70*second) })
	}
	b.run(end + 10*second)
	return b
}

// With in_flight, people do not notice 200 robots, after the first second. Without,
// they wait as long as the robots.
func TestPeopleDoNotWaitForRobots(t *testing.T) {
	alone := overload(nil, 0, 0).p99(begin+11*second, begin+70*second)
	if collapse := overload(nil, 200, 0).p99(begin+11*second, begin+70*second); collapse < 10*alone {
		t.Errorf("without shedding, people wait %v: the robots are no load", collapse)
	}
	for name, kind := range map[string]int{
		"self-declared": stepNamed("self-declared"), "ai": stepNamed("ai-*"), "preview": stepNamed("preview"),
		"claims to be Googlebot": stepNamed("search"),
	} {
		load := newLoad(8)
		b := overload(load, 200, kind)
		with := b.p99(begin+11*second, begin+70*second)
		t.Logf("%s: people's p99 %v alone, %v with robots; %d robots served, %d refused", name, alone, with, b.served["robot"], b.refused["robot"])
		if with > alone*12/10 {
			t.Errorf("%s: people's p99 is %v, and %v without robots", name, with, alone)
		}
		if b.changes != 2 || load.State(b.now).InFlight != 0 || load.robots.Load() != 0 || load.claims.Load() != 0 {
			t.Errorf("%s: busy changed %d times, at the end %+v", name, b.changes, load.State(b.now))
		}
	}
}

// Without load, nothing is refused.
func TestIdle(t *testing.T) {
	load := newLoad(12)
	b := overload(load, 2, stepNamed("self-declared"))
	if b.refused["robot"] != 0 || b.changes != 0 {
		t.Errorf("%d requests were refused, busy changed %d times", b.refused["robot"], b.changes)
	}
}

// A load that comes and goes does not make the server busy and idle again.
func TestSquareWave(t *testing.T) {
	for _, half := range []int64{2, 5, 12, 20} {
		load := newLoad(8)
		b := newBackend(load)
		for wave := range 600 / (2 * half) {
			from := begin + 2*half*wave*second
			for range 50 {
				b.at(from, func() { b.robot("robot", stepNamed("ai-*"), int64(20*time.Millisecond), from+half*second) })
			}
		}
		b.run(begin + 600*second)
		for at := begin + 600*second; at < begin+900*second; at += second {
			b.at(at, func() { load.State(b.now) })
		}
		b.run(begin + 900*second)
		if b.changes != 2 {
			t.Errorf("a wave of %d s: busy changed %d times in ten minutes", half, b.changes)
		}
	}
}

// The kinds are refused one after the other: those that come later in the order
// keep their requests as long as it suffices to refuse others.
func TestOrderOfRefusals(t *testing.T) {
	load := newLoad(8)
	b := newBackend(load)
	until := begin + 60*second
	for range 100 {
		b.at(begin, func() { b.robot("ai", stepNamed("ai-*"), int64(50*time.Millisecond), until) })
	}
	for _, name := range []string{"archive", "preview"} {
		var now func()
		now = func() {
			if b.now < until {
				b.robot(name, stepNamed(name), second, b.now+1)
				b.at(b.now+second/2, now)
			}
		}
		b.at(begin, now)
	}
	b.run(until + 10*second)
	for _, name := range []string{"archive", "preview"} {
		if total := b.served[name] + b.refused[name]; b.refused[name]*5 > total {
			t.Errorf("%s: %d of %d requests are refused, and those of ai suffice", name, b.refused[name], total)
		}
	}
	if b.refused["ai"] < b.served["ai"] {
		t.Errorf("%d requests of ai are refused, %d served", b.refused["ai"], b.served["ai"])
	}
}

// A verified search engine loses a fifth of its requests. Claims to be one
// share a few slots.
func TestSearchEngines(t *testing.T) {
	load := newLoad(1)
	for range 3 { // in flight for ever
		load.Enter(begin, false)
	}
	for _, pause := range []int64{second / 2, second, 5 * second / 2} {
		const requests = 400
		refused := 0
		for i := range int64(requests) {
			if slot, ok := load.EnterRobot(begin+i*pause, verifiedStep, 1); ok {
				load.Leave(slot)
			} else {
				refused++
			}
		}
		if refused == 0 || refused*5 > requests {
			t.Errorf("a request each %v: %d of %d are refused", time.Duration(pause), refused, requests)
		}
	}
	now := begin + 3600*second
	slots := 0
	var last Place
	for i := range 1000 {
		if place, ok := load.EnterRobot(now, stepNamed("search"), uint64(i)); ok && place.claim {
			last = place
			slots++
		}
	}
	if slots != claimSlots {
		t.Errorf("%d claims are served at once", slots)
	}
	load.Leave(last)
	if _, ok := load.EnterRobot(now, stepNamed("search"), 1); !ok {
		if _, ok = load.EnterRobot(now, stepNamed("search"), 1); !ok {
			t.Error("the slot is lost")
		}
	}
}

// keepBusy makes a Load refuse two steps, and returns the time. A robot of each step
// comes, and none of the people in flight leaves.
func keepBusy(t *testing.T, load *Load, now int64) int64 {
	t.Helper()
	for range int(load.limit) + 1 {
		load.Enter(now, false)
	}
	for load.level.Load() < 2 {
		for step := range 3 {
			load.EnterRobot(now, step, 1)
		}
		if now += second / 4; now > begin+3600*second {
			t.Fatal("no robots are refused")
		}
	}
	for range int(load.limit) + 1 {
		load.Leave(Place{})
	}
	return now
}

// When nobody has come for a while, the next request finds a server that is not
// busy. Robots that still come are let through step by step.
func TestQuietTimeEndsTheLoad(t *testing.T) {
	load := newLoad(4)
	now := keepBusy(t, load, begin)
	if now += int64(hold) / 2; !load.State(now).Since.Equal(time.Unix(0, load.busy.Load())) || !load.IsBusy() {
		t.Fatal("not busy any more after half the time")
	}
	load.Enter(now+int64(hold)+second, false)
	if s := load.State(now + int64(hold) + second); load.IsBusy() || len(s.Refused) > 0 {
		t.Errorf("after a quiet time: %+v", s)
	}

	load = newLoad(4)
	now = keepBusy(t, load, begin)
	for range 4 * 31 {
		now += second / 4
		load.EnterRobot(now, 0, 1)
	}
	if !load.IsBusy() {
		t.Error("robots were let through, and did not show yet whether they are too many")
	}
}

// A clock that is set back by a day does not make the load last for a day.
func TestClockSetBack(t *testing.T) {
	load := newLoad(4)
	now := keepBusy(t, load, begin)
	load.Enter(now+second, false) // a look without load
	load.Leave(Place{})
	now -= 24 * 3600 * second
	for range 4 * 130 {
		now += second / 4
		load.Enter(now, false)
		load.Leave(Place{})
	}
	if load.IsBusy() {
		t.Errorf("still busy: %+v", load.State(now))
	}
	if keepBusy(t, load, now); !load.IsBusy() {
		t.Error("not busy under load")
	}
}

// Concurrent requests leave nothing in flight.
func TestConcurrentRequests(t *testing.T) {
	load := newLoad(4)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range int64(2000) {
				now := begin + n*int64(time.Millisecond)
				if i == 0 {
					load.Enter(now, false)
					load.Leave(Place{})
					load.State(now)
				} else if place, ok := load.EnterRobot(now, []int{stepNamed("ai-*"), verifiedStep, stepNamed("search")}[i%3], uint64(n)); ok {
					load.Leave(place)
				}
			}
		})
	}
	wg.Wait()
	if n := cmp.Or(load.inFlight.Load(), load.claims.Load(), load.robots.Load()); n != 0 {
		t.Errorf("%d requests stay in flight", n)
	}
}

func BenchmarkEnter(b *testing.B) {
	load := newLoad(64)
	b.RunParallel(func(pb *testing.PB) {
		now := time.Now().UnixNano()
		for pb.Next() {
			load.Enter(now, false)
			load.Leave(Place{})
		}
	})
}
