package throttle

import (
	"context"
	"time"
)

// Peek implements Limiter.
func (m *Memory) Peek(now time.Time, k Key, t *Limits) (r Result, used bool) {
	var one [1]budget
	at := now.UnixMicro()
	list := m.lookUp(at, []Use{{k, t}}, one[:0])
	for i := range list {
		for _, tat := range list[i].tat[:t.n] {
			used = used || tat > at
		}
	}
	return earliest(at, list).result(at), used
}

// Forget implements Limiter. The error is always nil.
func (m *Memory) Forget(_ context.Context, now time.Time, k Key) error {
	var one [1]budget
	list := m.lock([]Use{{k, probeLimits}}, one[:0])
	defer unlock(list)
	s := list[0].shard
	if slot, found := s.find(list[0].tag, list[0].hash); found {
		slot.head.marks &^= 0xff << (8 * slot.index)
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
