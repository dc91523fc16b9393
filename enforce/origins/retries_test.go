package origins

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// retryOrigins returns a Origins that reads from source, with the time of a
// synctest bubble.
func retryOrigins(t *testing.T, source Source, copies *Copies) *Table {
	t.Helper()
	rules, err := judge.Settings{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	p := New(source, rules, Config{Copies: copies})
	t.Cleanup(func() {
		p.Close()
		p.Settle()
	})
	return p
}

func TestRetriesEnd(t *testing.T) {
	origin := judge.NewOrigin("https", "example.com", 443)
	t.Run("without requests for a day", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := new(fake.Source)
			source.Set(502, "")
			p := retryOrigins(t, source, nil)
			p.Peek(&judge.Request{Origin: origin, Time: time.Now()})
			time.Sleep(maxRetryAge + time.Hour)
			synctest.Wait()
			before := source.Count(origin)
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if n := source.Count(origin); before < 1000 || n != before {
				t.Errorf("%d reads on the first day and %d later", before, n-before)
			}
		})
	})
	for _, tt := range []struct {
		name            string
		invented, close bool
	}{{"for an invented host", true, false}, {"after Close", false, true}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := new(fake.Source)
				source.Set(502, "")
				p := retryOrigins(t, source, nil)
				p.Peek(&judge.Request{Origin: origin, Time: time.Now(), Invented: tt.invented})
				synctest.Wait()
				if tt.close {
					p.Close()
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := source.Count(origin); n != 1 {
					t.Errorf("%d reads, want 1", n)
				}
			})
		})
	}
	t.Run("move to other rules", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := new(fake.Source)
			source.Set(502, "")
			p := retryOrigins(t, source, nil)
			p.Peek(&judge.Request{Origin: origin, Time: time.Now()})
			synctest.Wait()
			rules, err := judge.Settings{Strict: true}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			q := p.With(rules, nil)
			source.Set(200, "User-agent: *\nDisallow: /\n")
			time.Sleep(time.Second)
			synctest.Wait()
			if rules := q.RulesOf(origin); source.Count(origin) != 2 || rules == nil || rules.Outcome() != judge.Loaded {
				t.Errorf("%d reads, want 2; the new rules have no file", source.Count(origin))
			}
		})
	})
}

// A file that serves all origins is read again also if all hosts are invented.
func TestRetriesOfOneFileForAllOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fake.Source{Shared: true}
		source.Set(502, "")
		p := retryOrigins(t, source, nil)
		p.Peek(&judge.Request{Origin: judge.NewOrigin("https", "example.com", 443), Time: time.Now(), Invented: true})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := source.Count(judge.Origin{}); n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
	})
}

func TestPrefetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, copies := new(fake.Source), new(Copies)
		source.Set(200, "User-agent: *\nDisallow: /\n")
		p := retryOrigins(t, source, copies)
		origin := judge.NewOrigin("https", "example.com", 443)
		r := &judge.Request{Origin: origin, Time: time.Now()}
		p.Prefetch(context.Background(), r)
		p.Prefetch(context.Background(), r)
		if rules := p.RulesOf(origin); rules == nil || source.Count(origin) != 1 {
			t.Errorf("%d reads, want 1, and the rules %v", source.Count(origin), rules)
		}
		if _, ok := copies.get(origin); !ok {
			t.Error("no copy")
		}
		source.Block = make(chan struct{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		p.Prefetch(ctx, &judge.Request{Origin: judge.NewOrigin("https", "slow.example.com", 443), Time: time.Now()})
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("waited %v for a source that hangs, want until the context ended", waited)
		}
	})
}

// A source that hangs delays crawlers for a second only if there is a policy, and
// for five seconds if the policy is more than a day overdue.
func TestWaitForTheRulesThatAreDueIsShort(t *testing.T) {
	for _, c := range []struct {
		quiet, wait time.Duration
	}{{30 * time.Second, 0}, {2 * time.Minute, dueWait}, {maxStale + time.Hour, firstWait}} {
		synctest.Test(t, func(t *testing.T) {
			source := new(fake.Source)
			source.Set(200, "User-agent: *\nDisallow: /\n")
			p := retryOrigins(t, source, nil)
			origin := judge.NewOrigin("https", "example.com", 443)
			p.Prefetch(context.Background(), &judge.Request{Origin: origin, Time: time.Now()})
			source.Mu.Lock()
			source.Block = make(chan struct{})
			source.Mu.Unlock()
			time.Sleep(c.quiet)
			r := &judge.Request{Origin: origin, Time: time.Now()}
			p.Peek(r)
			if rules := p.Wait(context.Background(), r); rules == nil || rules.Outcome() != judge.Loaded {
				t.Error("the rules is not in force")
			}
			if waited := time.Since(r.Time); waited != c.wait {
				t.Errorf("%v after the last read: waited %v, want %v", c.quiet, waited, c.wait)
			}
		})
	}
}

// A file that is told to have changed is read without a request: at once, or a second
// after the read that is under way began.
func TestChangedFileIsReadWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fake.Source{Shared: true}
		source.Set(200, "User-agent: *\nDisallow: /a/\n")
		p := retryOrigins(t, source, nil)
		p.Load(context.Background())
		for range 3 {
			p.Changed()
			synctest.Wait()
		}
		if n := source.Count(judge.Origin{}); n != 4 {
			t.Errorf("%d reads after the start and 3 changes", n)
		}
		source.Mu.Lock()
		source.Block = make(chan struct{})
		source.Mu.Unlock()
		p.Changed()
		synctest.Wait()
		p.Changed()
		close(source.Block)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := source.Count(judge.Origin{}); n != 6 {
			t.Errorf("%d reads, want one after the one that was under way", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := source.Count(judge.Origin{}); n != 6 {
			t.Errorf("%d reads a minute later", n)
		}
	})
}
