package throttle

import (
	"math/big"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// model is a simple limiter for one key, with which the tests compare the
// Limiters. It computes the GCRA of each line with fractions, and has no
// RetryAfter.
type model struct {
	grant  Grant
	burst  int
	delay  *modelLimit
	rates  []*modelLimit
	visits []robots.Window
}

type modelLimit struct {
	interval, tolerance *big.Rat // microseconds
	tat                 *big.Rat
	unit                int64 // in microseconds; tat is rounded down to a multiple of it
	window              robots.Window
}

func newModel(g Grant) *model {
	m := &model{grant: g, burst: max(g.Burst, 1)}
	limitOf := func(n int, per time.Duration, w robots.Window) *modelLimit {
		longest := g.MaxDelay
		if longest == 0 {
			longest = DefaultMaxDelay
		}
		every := new(big.Rat).SetFrac64(int64(per/time.Microsecond), int64(n))
		if top := new(big.Rat).SetInt64(int64(longest / time.Microsecond)); every.Cmp(top) > 0 {
			every = top
		}
		every.Mul(every, big.NewRat(9, 10))
		tolerance := new(big.Rat).Mul(every, big.NewRat(2*int64(max(n, m.burst)-1)+1, 2))
		unit, horizon := int64(1), new(big.Rat).Add(every, tolerance)
		for horizon.Cmp(big.NewRat(unit<<32, 1)) > 0 {
			unit *= 2
		}
		return &modelLimit{interval: every, tolerance: tolerance, tat: big.NewRat(-1<<62, 1), unit: unit, window: w}
	}
	if g.Delay.Delay > 0 {
		m.delay = limitOf(1, g.Delay.Delay, robots.WholeDay)
	}
	for _, r := range g.Rates {
		m.rates = append(m.rates, limitOf(r.Requests, r.Per, r.Window))
	}
	for _, v := range g.Visits {
		m.visits = append(m.visits, v.Window)
	}
	return m
}

func (m *model) limits() []*modelLimit {
	if m.delay == nil {
		return m.rates
	}
	return append([]*modelLimit{m.delay}, m.rates...)
}

// accepts reports whether every line lets a request through at now.
func (m *model) accepts(now time.Time) bool {
	open := len(m.visits) == 0
	for _, w := range m.visits {
		open = open || contains(w, now)
	}
	if !open {
		return false
	}
	at := new(big.Rat).SetInt64(now.UnixMicro())
	for _, l := range m.limits() {
		if contains(l.window, now) && new(big.Rat).Sub(l.tat, l.tolerance).Cmp(at) > 0 {
			return false
		}
	}
	return true
}

// take is accepts, and uses budget if it accepts.
func (m *model) take(now time.Time) bool {
	if !m.accepts(now) {
		return false
	}
	at := new(big.Rat).SetInt64(now.UnixMicro())
	for _, l := range m.limits() {
		if contains(l.window, now) {
			start := at
			if l.tat.Cmp(at) > 0 {
				start = l.tat
			}
			l.tat = new(big.Rat).Add(start, l.interval)
			units := new(big.Rat).Quo(l.tat, big.NewRat(l.unit, 1))
			whole := new(big.Int).Div(units.Num(), units.Denom())
			l.tat.SetInt(whole.Mul(whole, big.NewInt(l.unit)))
		}
	}
	return true
}
