package enforce

import (
	"errors"
	"testing"
	"time"
)

func TestCopiesOutliveTheOrigins(t *testing.T) {
	copies := NewCopies()
	p := newOriginsTest(t, Config{Copies: copies})
	p.get(home)
	q := newOriginsTest(t, Config{Copies: copies})
	q.source.set(500, "")
	if rules := q.get(home); rules.Outcome() != Loaded || allows(rules, "/private/x") {
		t.Error("the cached copy is not in force")
	}
	p.seen.next(t)
	p.Settle()
	p.source.set(404, "")
	p.clock.advance(2 * time.Minute)
	p.peek(t, home)
	r := newOriginsTest(t, Config{Copies: copies})
	r.source.set(500, "")
	if rules := r.get(home); rules.Outcome() != Missing {
		t.Errorf("the copy of a file that was removed is in force: %v", rules.Outcome())
	}
}

// A local source is read when the configuration is loaded. If the file is the copy,
// nothing is new.
func TestLoadOfTheCopy(t *testing.T) {
	copies := NewCopies()
	for i, tt := range []struct {
		text string
		want Outcome
	}{{site, Loaded}, {site, Unchanged}, {site + "Disallow: /more/\n", Loaded}} {
		p := newOriginsTest(t, Config{Copies: copies})
		p.source.set(200, tt.text)
		if rules := p.Load(t.Context()); rules == nil || string(rules.Text()) != tt.text {
			t.Fatalf("load %d: another file is in force", i)
		}
		if e := p.seen.next(t); e.Outcome != tt.want || !e.Changed {
			t.Errorf("load %d: outcome %v, changed %v", i, e.Outcome, e.Changed)
		}
	}
}

// After a reload, the cached copy is in force before the source answers.
func TestCopyIsInForceBeforeTheFirstReadEnds(t *testing.T) {
	copies := NewCopies()
	newOriginsTest(t, Config{Copies: copies}).rulesAfterFetch(home)
	q := newOriginsTest(t, Config{Copies: copies})
	q.source.block = make(chan struct{})
	defer close(q.source.block)
	rules := q.get(home) // returns as soon as the copy is compiled
	if rules == nil || rules.Outcome() != Loaded || allows(rules, "/private/x") {
		t.Error("the copy is not in force before the source answers")
	}
}

// How long a copy stays in force depends on the answers of the source.
func TestLifetimeOfCopies(t *testing.T) {
	for _, tt := range []struct {
		status int
		keep   time.Duration
	}{{403, keepRefused}, {500, keepFailed}} {
		p := newOriginsTest(t, Config{Refresh: time.Hour})
		p.rulesAfterFetch(home)
		p.source.set(tt.status, "")
		p.clock.advance(tt.keep)
		if rules := p.rulesAfterFetch(home); rules.Outcome() != Loaded {
			t.Errorf("%d: the copy is gone after %v", tt.status, tt.keep)
		}
		p.clock.advance(2 * time.Hour)
		if rules := p.rulesAfterFetch(home); rules.Outcome() == Loaded {
			t.Errorf("%d: the copy is in force after more than %v", tt.status, tt.keep)
		}
	}
	copies := NewCopies()
	p := newOriginsTest(t, Config{Copies: copies})
	p.rulesAfterFetch(home)
	q := newOriginsTest(t, Config{Copies: copies})
	q.source.mu.Lock()
	q.source.err = errors.New("gone")
	q.source.mu.Unlock()
	q.clock.advance(keepFailed + time.Hour)
	if rules := q.rulesAfterFetch(home); rules.Outcome() != Failed {
		t.Errorf("a copy older than %v is in force: %v", keepFailed, rules.Outcome())
	}
}
