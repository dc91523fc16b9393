package challenge

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// brokenStorage is a storage that can be made to fail.
type brokenStorage struct {
	certmagic.Storage
	err error
}

func (s *brokenStorage) Load(ctx context.Context, name string) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Storage.Load(ctx, name)
}

// synced exchanges keys once, and returns those that are accepted.
func synced(t *testing.T, k *keeper) ring {
	t.Helper()
	if err := k.sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return k.memory.keys()
}

func TestKeysOutliveTheProcess(t *testing.T) {
	t.Parallel()
	storage := &brokenStorage{&certmagic.FileStorage{Path: t.TempDir()}, errors.New("no storage")}
	first := &keeper{memory: NewMemory(), storage: storage}
	if err := first.sync(t.Context()); err == nil || len(first.memory.keys()) != 1 {
		t.Fatalf("without a storage: %v, and not only the key of the process", err)
	}
	storage.err = nil
	if keys := synced(t, first); len(keys) != 2 {
		t.Fatalf("%d keys", len(keys))
	}
	pass := newToken(noon).as(passToken)
	text := first.memory.keys().text(pass, &here)
	if synced(t, &keeper{memory: NewMemory(), storage: storage}).open(text, &here) != pass {
		t.Error("another server does not know the pass")
	}
	synced(t, first) // which reads what it has stored
	storage.err = errors.New("no storage")
	if synced(t, first).open(text, &here) != pass {
		t.Error("an outage of the storage costs the key")
	}
}

// sharedSet is the set of keys of a fleet.
type sharedSet struct {
	step.Store
	members []step.Member
	err     error
}

func (s *sharedSet) Members(context.Context, string, int) ([]step.Member, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.members, nil
}

func (s *sharedSet) AddMembers(_ context.Context, _ string, members []step.Member, _ int) error {
	s.members = append(s.members, members...)
	return nil
}

// Servers of a fleet agree on the key that signs, accept their own too, and keep both in their
// storages for the time when the fleet does not answer, and for the time when it was emptied.
func TestKeysOfAFleet(t *testing.T) {
	t.Parallel()
	set := new(sharedSet)
	pass := newToken(noon).as(passToken)
	var servers []*keeper
	var own []string // passes that the servers gave before they joined
	for range 3 {
		k := &keeper{memory: NewMemory(), storage: &certmagic.FileStorage{Path: t.TempDir()}}
		own = append(own, synced(t, k).text(pass, &here))
		k.fleet = set
		servers = append(servers, k)
	}
	agree := func(when string) {
		t.Helper()
		for _, k := range servers {
			synced(t, k)
		}
		for i, k := range servers {
			keys := synced(t, &keeper{memory: NewMemory(), storage: k.storage, fleet: set}) // after a restart
			if keys.open(own[i], &here) != pass || k.memory.keys().open(own[i], &here) != pass {
				t.Errorf("%s: server %d does not know its own passes", when, i)
			}
			if keys.text(pass, &here) != servers[0].memory.keys().text(pass, &here) {
				t.Errorf("%s: server %d signs with another key", when, i)
			}
		}
	}
	agree("together")
	set.err = errors.New("no fleet")
	agree("without the fleet")
	set.err, set.members = nil, nil
	agree("after the fleet was emptied")
}

// A file that has no keys is replaced, and health says so for a day; none is while the storage
// can't be reached.
func TestDamagedKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "{}", "00ff", "\x00"} {
		storage := &certmagic.FileStorage{Path: t.TempDir()}
		if err := storage.Store(t.Context(), keysName, []byte(text)); err != nil {
			t.Fatal(err)
		}
		for i, damaged := range []bool{true, false} { // before and after a restart
			k := &keeper{memory: NewMemory(), storage: storage}
			if keys := synced(t, k); len(keys) != 2 {
				t.Errorf("%q, %d: no key", text, i)
			}
			c := &Challenge{Check: New(k.memory, Config{}, handlerKey)}
			if n := len(c.faults()); n == 1 != damaged {
				t.Errorf("%q, %d: %d problems", text, i, n)
			}
			k.memory.damaged.Store(clock.Now().Add(-25 * time.Hour).Unix())
			if n := len(c.faults()); n != 0 {
				t.Errorf("%q, %d: %d problems after a day", text, i, n)
			}
		}
	}
}

// A check with another window is another one.
func TestWindowAfterAReload(t *testing.T) {
	t.Parallel()
	m := NewMemory()
	q := &judge.Request{Origin: here.origin}
	for _, window := range []time.Duration{time.Minute, 10 * time.Minute} {
		c := New(m, Config{name: "challenge /x", over: 60, window: window}, handlerKey)
		if s := c.storm(q, 1); s.window() != int(window/time.Second) {
			t.Errorf("the window is %d s, want %s", s.window(), window)
		}
		n := 0
		for range c.Storms {
			n++
		}
		if n != 1 {
			t.Errorf("%d storms with a window of %s", n, window)
		}
	}
}
