package throttle

import (
	"context"
	"time"
)

// Peek implements Limiter.
func (m *Memory) Peek(now time.Time, k Key, t *Limits) (r Result, used bool) {
	if t == nil {
		return Result{OK: true}, false
	}
	at := now.UnixMicro()
	a, _ := m.lookUp(at, k, t)
	for _, tat := range a.tat[:t.n] {
		used = used || tat > at
	}
	r, _ = t.decide(at, &a, 0)
	return r, used
}

// Forget implements Limiter. The error is always nil.
func (m *Memory) Forget(_ context.Context, now time.Time, k Key) error {
	tag := tagOf(&k)
	s, h := m.lock(tag)
	defer s.mu.Unlock()
	if place, found := s.find(tag, h); found {
		place.head.marks &^= 0xff << (8 * place.index)
		s.used--
	}
	return nil
}

// Peek implements Limiter. It does not call the server.
func (f *Fleet) Peek(now time.Time, k Key, t *Limits) (r Result, used bool) {
	return f.local.Peek(now, k, t)
}

// Forget implements Limiter. It always resets the budget in this process, and
// waits for the server at most two seconds. An error means that the server may
// still have the budget.
//
// Other processes keep the state that they received last. So they may go on
// refusing requests until that state accepts one, and their next call can
// bring the state back to the server.
func (f *Fleet) Forget(ctx context.Context, now time.Time, k Key) error {
	_ = f.local.Forget(ctx, now, k)
	s, ok := f.server(f.name(k)).(*node)
	if !ok {
		return errDown
	}
	ctx, cancel := context.WithTimeout(ctx, forgetDeadline)
	defer cancel()
	return explain(s.client.Do(ctx, s.client.B().Del().Key(f.name(k)).Build()).Error())
}

// forgetDeadline is how long Forget waits for the server.
const forgetDeadline = 2 * time.Second

// Interface guards
var (
	_ Limiter = (*Memory)(nil)
	_ Limiter = (*Fleet)(nil)
)
