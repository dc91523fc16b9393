package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// ledger is a fake server that does the same as take.lua, one call at a time.
type ledger struct {
	mu       sync.Mutex
	accounts *throttle.Memory
	calls    int
}

func newLedger() *ledger { return &ledger{accounts: throttle.NewMemory(10_000)} }

// lose makes the server lose its data.
func (s *ledger) lose() { s.accounts = throttle.NewMemory(10_000) }

func (s *ledger) call(_ context.Context, q scriptCall) (ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	now, uses := time.UnixMicro(q.now), make([]throttle.Use, len(q.budgets))
	for i := range q.budgets {
		b := &q.budgets[i]
		uses[i] = b.Use
		if b.Last > 0 && !q.back && b.Last-q.now <= throttle.MaxLead.Microseconds() {
			s.accounts.Update(now, b.Use, b.State, false)
		}
	}
	if q.back {
		ok = s.accounts.GiveBack(now, time.UnixMicro(q.now+q.after), uses)
	} else {
		ok = s.accounts.Take(context.Background(), now, uses).OK
	}
	for i := range q.budgets {
		b := &q.budgets[i]
		b.State = s.accounts.State(now, b.Use)
	}
	return ok, nil
}

// newLedgerFleet returns a limiter that uses s.
func newLedgerFleet(s *ledger, entries int) (*limiter, *recorder) {
	r := newRecorder()
	f := newLimiter(config{ClientOption: at("ledger"), Deadline: time.Hour, injected: true}, throttle.NewMemory(entries), r)
	f.server = func() server { return s }
	return f, r
}
