package origins

import (
	"errors"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

func TestCopiesOutliveTheOrigins(t *testing.T) {
	copies := new(Copies)
	p := newOriginsTest(t, Config{Copies: copies})
	p.get(fake.Home)
	q := newOriginsTest(t, Config{Copies: copies})
	q.source.Set(500, "")
	if rules := q.get(fake.Home); rules.Outcome() != judge.Loaded || allows(rules, "/private/x") {
		t.Error("the cached copy is not in force")
	}
	p.seen.Next(t)
	p.Settle()
	p.source.Set(404, "")
	p.clock.Advance(2 * time.Minute)
	p.peek(t, fake.Home)
	r := newOriginsTest(t, Config{Copies: copies})
	r.source.Set(500, "")
	if rules := r.get(fake.Home); rules.Outcome() != judge.Missing {
		t.Errorf("the copy of a file that was removed is in force: %v", rules.Outcome())
	}
}

// A local source is read when the configuration is loaded. If the file is the copy,
// nothing is new.
func TestLoadOfTheCopy(t *testing.T) {
	copies := new(Copies)
	for i, tt := range []struct {
		text string
		want judge.Outcome
	}{{fake.Site, judge.Loaded}, {fake.Site, judge.Unchanged}, {fake.Site + "Disallow: /more/\n", judge.Loaded}} {
		p := newOriginsTest(t, Config{Copies: copies})
		p.source.Set(200, tt.text)
		if rules := p.Load(t.Context()); rules == nil || string(rules.Text()) != tt.text {
			t.Fatalf("load %d: another file is in force", i)
		}
		if e := p.seen.Next(t); e.Outcome != tt.want || !e.Changed {
			t.Errorf("load %d: outcome %v, changed %v", i, e.Outcome, e.Changed)
		}
	}
}

// How long a copy stays in force depends on the answers of the source.
func TestLifetimeOfCopies(t *testing.T) {
	for _, tt := range []struct {
		status int
		keep   time.Duration
	}{{403, keepRefused}, {500, keepFailed}} {
		p := newOriginsTest(t, Config{Refresh: time.Hour})
		p.rulesAfterFetch(fake.Home)
		p.source.Set(tt.status, "")
		p.clock.Advance(tt.keep)
		if rules := p.rulesAfterFetch(fake.Home); rules.Outcome() != judge.Loaded {
			t.Errorf("%d: the copy is gone after %v", tt.status, tt.keep)
		}
		p.clock.Advance(2 * time.Hour)
		if rules := p.rulesAfterFetch(fake.Home); rules.Outcome() == judge.Loaded {
			t.Errorf("%d: the copy is in force after more than %v", tt.status, tt.keep)
		}
	}
	copies := new(Copies)
	p := newOriginsTest(t, Config{Copies: copies})
	p.rulesAfterFetch(fake.Home)
	q := newOriginsTest(t, Config{Copies: copies})
	q.source.Mu.Lock()
	q.source.Err = errors.New("gone")
	q.source.Mu.Unlock()
	q.clock.Advance(keepFailed + time.Hour)
	if rules := q.rulesAfterFetch(fake.Home); rules.Outcome() != judge.Failed {
		t.Errorf("a copy older than %v is in force: %v", keepFailed, rules.Outcome())
	}
}
