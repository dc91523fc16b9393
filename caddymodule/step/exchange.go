package step

import (
	"net/http"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Exchange is a request on its way through the handler, with what was found out about it.
// It must not be kept: another request uses it as soon as this one has ended.
type Exchange struct {
	Request  judge.Request
	Client   judge.Client
	Decision judge.Decision
	Uses     []enforce.Use // of budgets of steps, beside those of groups
	HTTP     *http.Request // for the handlers that follow

	// Stranger says that the client names no crawler and does not show that it is a browser,
	// for the matcher robots.
	Stranger bool

	// Returned says that the handlers that follow have returned, with Err. It stays false if
	// they were not called, or panicked.
	Returned bool
	Err      error

	// Taken says that something else may still use the exchange when the request has ended,
	// such as a connection that was hijacked, so that it is not used again.
	Taken bool

	states []clearer // by slot
}

// Core is what the core does for steps. The Caller of Request is one.
type Core interface {
	Withdraw(refusal *judge.Decision)
	Refuse(w http.ResponseWriter) error
}

// Withdraw refuses a request that was let through, while it is answered: its budgets are
// given back, and its record is that of the refusal. The client must have got nothing yet.
func (x *Exchange) Withdraw(refusal *judge.Decision) { x.Request.Caller.(Core).Withdraw(refusal) }

// Refuse answers a refused request.
func (x *Exchange) Refuse(w http.ResponseWriter) error { return x.Request.Caller.(Core).Refuse(w) }

// clearer is a state of a step.
type clearer interface{ clear() }

// state is a clearer for a value.
type state[T any] struct{ value T }

func (s *state[T]) clear() {
	if r, ok := any(&s.value).(interface{ Reset() }); ok {
		r.Reset()
		return
	}
	var zero T
	s.value = zero
}

// slots is how many there are. It changes only while the program starts.
var slots int

// Slot is the room for the state of one kind of step in each Exchange. States are used
// again, so that requests allocate none.
type Slot[T any] struct{ index int }

// NewSlot returns a Slot. Call it while the program starts: in a variable of a package.
func NewSlot[T any]() Slot[T] {
	slots++
	return Slot[T]{slots - 1}
}

// Of returns the state of a request. At first it is zero; if T has a method Reset, that has
// been called for the value of an earlier request.
func (s Slot[T]) Of(x *Exchange) *T {
	if x.states == nil {
		x.states = make([]clearer, slots)
	}
	if x.states[s.index] == nil {
		x.states[s.index] = new(state[T])
	}
	return &x.states[s.index].(*state[T]).value
}

// Clear makes x the exchange of no request, and keeps the room for states and uses.
func (x *Exchange) Clear() {
	for _, s := range x.states {
		if s != nil {
			s.clear()
		}
	}
	states, uses := x.states, x.Uses[:0]
	*x = Exchange{}
	x.states, x.Uses = states, uses
}
