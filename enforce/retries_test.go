package enforce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// retryOrigins returns a Origins that reads from source, with the time of a
// synctest bubble.
func retryOrigins(t *testing.T, source Source, copies *Copies) *Origins {
	t.Helper()
	rules, err := Settings{}.compile()
	if err != nil {
		t.Fatal(err)
	}
	p := newOrigins(source, rules, Config{Copies: copies})
	t.Cleanup(func() {
		p.close()
		p.Settle()
	})
	return p
}

func TestFailedReadIsRetriedWithoutRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := new(fakeSource)
		source.set(502, "")
		p := retryOrigins(t, source, nil)
		origin := NewOrigin("https", "example.com", 443)
		p.Peek(&Request{Origin: origin, Time: time.Now()})
		for _, c := range []struct {
			after time.Duration
			reads int
		}{{0, 1}, {time.Second, 2}, {2 * time.Second, 3}, {4 * time.Second, 4}, {8 * time.Second, 5}} {
			time.Sleep(c.after)
			synctest.Wait()
			if n := source.count(origin); n != c.reads {
				t.Fatalf("%d reads %v later, want %d", n, c.after, c.reads)
			}
		}
		source.set(200, "User-agent: *\nDisallow: /\n")
		time.Sleep(16 * time.Second)
		synctest.Wait()
		if rules := p.of(origin); rules == nil || rules.Outcome() != Loaded {
			t.Errorf("the file is not in force after the source works again")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := source.count(origin); n != 6 {
			t.Errorf("%d reads: a source that works is read without a request", n)
		}
	})
}

func TestRetriesEnd(t *testing.T) {
	origin := NewOrigin("https", "example.com", 443)
	t.Run("without requests for a day", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := new(fakeSource)
			source.set(502, "")
			p := retryOrigins(t, source, nil)
			p.Peek(&Request{Origin: origin, Time: time.Now()})
			time.Sleep(maxRetryAge + time.Hour)
			synctest.Wait()
			before := source.count(origin)
			time.Sleep(24 * time.Hour)
			synctest.Wait()
			if n := source.count(origin); before < 1000 || n != before {
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
				source := new(fakeSource)
				source.set(502, "")
				p := retryOrigins(t, source, nil)
				p.Peek(&Request{Origin: origin, Time: time.Now(), Invented: tt.invented})
				synctest.Wait()
				if tt.close {
					p.close()
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := source.count(origin); n != 1 {
					t.Errorf("%d reads, want 1", n)
				}
			})
		})
	}
	t.Run("move to other rules", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			source := new(fakeSource)
			source.set(502, "")
			p := retryOrigins(t, source, nil)
			p.Peek(&Request{Origin: origin, Time: time.Now()})
			synctest.Wait()
			rules, err := Settings{Strict: true}.compile()
			if err != nil {
				t.Fatal(err)
			}
			q := p.with(rules, nil)
			source.set(200, "User-agent: *\nDisallow: /\n")
			time.Sleep(time.Second)
			synctest.Wait()
			if rules := q.of(origin); source.count(origin) != 2 || rules == nil || rules.Outcome() != Loaded {
				t.Errorf("%d reads, want 2; the new rules have no file", source.count(origin))
			}
		})
	})
}

// A file that serves all origins is read again also if all hosts are invented.
func TestRetriesOfOneFileForAllOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &fakeSource{shared: true}
		source.set(502, "")
		p := retryOrigins(t, source, nil)
		p.Peek(&Request{Origin: NewOrigin("https", "example.com", 443), Time: time.Now(), Invented: true})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := source.count(Origin{}); n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
	})
}

func TestPrefetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, copies := new(fakeSource), NewCopies()
		source.set(200, "User-agent: *\nDisallow: /\n")
		p := retryOrigins(t, source, copies)
		origin := NewOrigin("https", "example.com", 443)
		r := &Request{Origin: origin, Time: time.Now()}
		p.Prefetch(context.Background(), r)
		p.Prefetch(context.Background(), r)
		if rules := p.of(origin); rules == nil || source.count(origin) != 1 {
			t.Errorf("%d reads, want 1, and the rules %v", source.count(origin), rules)
		}
		if known := copies.Origins(); len(known) != 1 || known[0] != origin {
			t.Errorf("copies of %v, want one of %v", known, origin)
		}
		source.block = make(chan struct{})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		p.Prefetch(ctx, &Request{Origin: NewOrigin("https", "slow.example.com", 443), Time: time.Now()})
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
			source := new(fakeSource)
			source.set(200, "User-agent: *\nDisallow: /\n")
			p := retryOrigins(t, source, nil)
			origin := NewOrigin("https", "example.com", 443)
			p.Prefetch(context.Background(), &Request{Origin: origin, Time: time.Now()})
			source.mu.Lock()
			source.block = make(chan struct{})
			source.mu.Unlock()
			time.Sleep(c.quiet)
			r := &Request{Origin: origin, Time: time.Now()}
			p.Peek(r)
			if rules := p.Wait(context.Background(), r); rules == nil || rules.Outcome() != Loaded {
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
		source := &fakeSource{shared: true}
		source.set(200, "User-agent: *\nDisallow: /a/\n")
		p := retryOrigins(t, source, nil)
		p.Load(context.Background())
		for range 3 {
			p.Changed()
			synctest.Wait()
		}
		if n := source.count(Origin{}); n != 4 {
			t.Errorf("%d reads after the start and 3 changes", n)
		}
		source.mu.Lock()
		source.block = make(chan struct{})
		source.mu.Unlock()
		p.Changed()
		synctest.Wait()
		p.Changed()
		close(source.block)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := source.count(Origin{}); n != 6 {
			t.Errorf("%d reads, want one after the one that was under way", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := source.count(Origin{}); n != 6 {
			t.Errorf("%d reads a minute later", n)
		}
	})
}
