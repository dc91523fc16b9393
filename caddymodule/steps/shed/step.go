package shed

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(Shed))
}

const maxInFlight = 1_000_000

// Layer has the line shed.
var Layer = judge.RegisterLayer(judge.LayerInfo{Name: "shed"})

// Reason is given to requests that are refused.
var Reason = judge.RegisterReason(judge.ReasonInfo{
	Name: "shed", Action: judge.Throttle, Meaning: "the server is busy and serves people first",
	Status: 503, Text: "This server is busy, so it serves people first. Come back later.",
	Answer: &judge.AnswerInfo{Verdict: "shed", Line: "shed", Statuses: []int{503}},
})

// Shed refuses crawlers with 503 while the server is busy, so that people get their
// pages. Default: off.
//
//	shed {
//		in_flight 64
//	}
//
// Each handler counts its own requests: if several sites share a back end, each needs a
// smaller `in_flight`.
type Shed struct {
	// Busy while more than this many requests of all clients wait for the header of their
	// response. Those with a body count for at most a quarter of it.
	InFlight int `json:"in_flight,omitempty"`

	place *judge.Place
	load  func() *Load
	hosts func() []string
	shared.User
}

// CaddyModule returns the Caddy module information.
func (*Shed) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.shed", New: func() caddy.Module { return new(Shed) }}
}

// Info implements step.Step.
func (*Shed) Info() step.Info {
	return step.Info{
		Stage: step.Shed, NeedsResponse: true, Enforces: true, Matches: []string{"busy"},
	}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	shed {
//		in_flight <number>
//	}
func (s *Shed) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	head := *d
	p := lines.Parser{Dispenser: d}
	err := lines.NoValues("shed", d.RemainingArgs())
	if err == nil {
		err = p.Block(lines.Table{"in_flight": lines.Number(&s.InFlight, maxInFlight)}, nil)
	}
	if err == nil {
		err = s.check()
	}
	return lines.Place(&head, err)
}

// check returns an error for values that can't be used.
func (s *Shed) check() error {
	if s.InFlight < 1 || s.InFlight > maxInFlight {
		return fmt.Errorf("shed needs in_flight: how many requests may wait before robots are refused, from 1 to %d", maxInFlight)
	}
	return nil
}

// Join implements step.Step. The Load outlives a reload with equal settings; the number of
// Loads is bounded by the configurations that were loaded.
func (s *Shed) Join(site step.Site) error {
	if err := s.check(); err != nil {
		return err
	}
	s.place = &judge.Place{Layer: Layer, Text: "shed"}
	s.place.File, s.place.Line = site.File, site.Line
	loads := shared.Use(&s.User, "shed", func() *sync.Map { return new(sync.Map) })
	s.hosts = site.Hosts
	s.load = sync.OnceValue(func() *Load {
		load, _ := loads.LoadOrStore(fmt.Sprint(site.Key(), " ", s.InFlight), New(s.InFlight))
		return load.(*Load)
	})
	return nil
}

// Places implements step.Placed.
func (s *Shed) Places() []*judge.Place { return []*judge.Place{s.place} }

// IsBusy implements step.Busy.
func (s *Shed) IsBusy() bool { return s.load().IsBusy() }

// Robots are asked to come back after a time between these. It differs for each
// request, so that they do not all come back at once.
const (
	leastRetry = 15 * time.Second
	mostRetry  = 45 * time.Second
)

// inFlight is a request that is in flight.
type inFlight struct {
	load  *Load // that counts it; nil if none does
	place Place
	head  response.Head
}

// addressSeed is random, so that clients can't choose addresses that displace a certain one.
var addressSeed = throttle.Key{rand.Uint64(), rand.Uint64()}

var requests = step.NewSlot[inFlight]()

// Holds implements step.Holder.
func (s *Shed) Holds(x *step.Exchange) (why judge.Reason, line *judge.Place, ok bool) {
	_, isRobot := StepOf(&x.Request, &x.Decision)
	return Reason, s.place, isRobot
}

// Wrap implements step.Decider. A request that is let through, and one that is only
// monitored, is counted as in flight. If it is a robot's, and the server is busy, it is
// refused.
func (s *Shed) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		s.enter(x, &x.Decision)
		next(x)
	}
}

func (s *Shed) enter(x *step.Exchange, d *judge.Decision) {
	load, now, q := s.load(), x.Request.Time.UnixNano(), requests.Of(x)
	q.leave() // a step before may decide again
	if kind, isRobot := StepOf(&x.Request, d); isRobot && d.Action == judge.Pass {
		place, ok := load.EnterRobot(now, kind, addressSeed.Client(x.Request.Addr())[0])
		if ok {
			q.load, q.place = load, place
			return
		}
		d.Refuse(Reason, s.place, leastRetry+rand.N(mostRetry-leastRetry))
	}
	if d.Action == judge.Pass || d.Monitored {
		q.load, q.place = load, load.Enter(now, x.HTTP.ContentLength != 0)
		if d.Agent.Class != crawler.Person {
			load.programs.add()
		}
	}
}

// leave ends what enter began. It may be called again.
func (q *inFlight) leave() {
	if q.load != nil {
		q.load.Leave(q.place)
		q.load = nil
	}
}

// Respond implements step.Responder: a request is in flight until its response begins.
func (*Shed) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	q := requests.Of(x)
	if q.load == nil {
		return w
	}
	return q.head.Watch(w, q)
}

// Answered implements response.Observer.
func (q *inFlight) Answered(int, http.Header) { q.leave() }

// End implements step.Ender.
func (*Shed) End(x *step.Exchange) {
	q := requests.Of(x)
	q.leave()
	x.Taken = x.Taken || q.head.Hijacked // its ResponseWriter may still be in use
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Shed)(nil)
	_ step.Step          = (*Shed)(nil)
	_ step.Decider       = (*Shed)(nil)
	_ step.Holder        = (*Shed)(nil)
	_ step.Responder     = (*Shed)(nil)
	_ step.Ender         = (*Shed)(nil)
	_ step.Busy          = (*Shed)(nil)
	_ step.Placed        = (*Shed)(nil)
	_ step.Viewer        = (*Shed)(nil)
	_ step.Diagnoser     = (*Shed)(nil)
	_ step.Explainer     = (*Shed)(nil)
)
