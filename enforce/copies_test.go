package enforce

import (
	"errors"
	"testing"
	"time"
)

func TestCopiesOutliveThePolicies(t *testing.T) {
	copies := NewCopies()
	p := newPoliciesTest(t, Config{Copies: copies})
	p.get(home)
	q := newPoliciesTest(t, Config{Copies: copies})
	q.source.set(500, "")
	if policy := q.get(home); policy.Outcome() != Loaded || allows(policy, "/private/x") {
		t.Error("the cached copy is not in force")
	}
	p.seen.next(t)
	p.running.Wait()
	p.source.set(404, "")
	p.clock.advance(2 * time.Minute)
	p.peek(t, home)
	r := newPoliciesTest(t, Config{Copies: copies})
	r.source.set(500, "")
	if policy := r.get(home); policy.Outcome() != Missing {
		t.Errorf("the copy of a file that was removed is in force: %v", policy.Outcome())
	}
}

// After a reload, the cached copy is in force before the source answers.
func TestCopyIsInForceBeforeTheFirstReadEnds(t *testing.T) {
	copies := NewCopies()
	newPoliciesTest(t, Config{Copies: copies}).policyAfterRead(home)
	q := newPoliciesTest(t, Config{Copies: copies})
	q.source.block = make(chan struct{})
	defer close(q.source.block)
	policy := q.get(home) // returns as soon as the copy is compiled
	if policy == nil || policy.Outcome() != Loaded || allows(policy, "/private/x") {
		t.Error("the copy is not in force before the source answers")
	}
}

// How long a copy stays in force depends on the answers of the source.
func TestLifetimeOfCopies(t *testing.T) {
	for _, tt := range []struct {
		status int
		keep   time.Duration
	}{{403, keepRefused}, {500, keepFailed}} {
		p := newPoliciesTest(t, Config{Refresh: time.Hour})
		p.policyAfterRead(home)
		p.source.set(tt.status, "")
		p.clock.advance(tt.keep)
		if policy := p.policyAfterRead(home); policy.Outcome() != Loaded {
			t.Errorf("%d: the copy is gone after %v", tt.status, tt.keep)
		}
		p.clock.advance(2 * time.Hour)
		if policy := p.policyAfterRead(home); policy.Outcome() == Loaded {
			t.Errorf("%d: the copy is in force after more than %v", tt.status, tt.keep)
		}
	}
	copies := NewCopies()
	p := newPoliciesTest(t, Config{Copies: copies})
	p.policyAfterRead(home)
	q := newPoliciesTest(t, Config{Copies: copies})
	q.source.mu.Lock()
	q.source.err = errors.New("gone")
	q.source.mu.Unlock()
	q.clock.advance(keepFailed + time.Hour)
	if policy := q.policyAfterRead(home); policy.Outcome() != Failed {
		t.Errorf("a copy older than %v is in force: %v", keepFailed, policy.Outcome())
	}
}
