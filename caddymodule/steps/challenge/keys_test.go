package challenge

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

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

func (s *brokenStorage) Lock(ctx context.Context, name string) error {
	if s.err != nil {
		return s.err
	}
	return s.Storage.Lock(ctx, name)
}

func TestKeysOutliveTheProcess(t *testing.T) {
	t.Parallel()
	storage := &brokenStorage{&certmagic.FileStorage{Path: t.TempDir()}, errors.New("no storage")}
	ctx := t.Context()
	first := &keeper{memory: NewMemory(), storage: storage}
	if err := first.sync(ctx, noon); err == nil || len(*first.memory.ring.Load()) != 1 {
		t.Fatalf("without a storage: %v, and not only the key of the process", err)
	}
	storage.err = nil
	if err := first.sync(ctx, noon); err != nil || len(*first.memory.ring.Load()) != 2 {
		t.Fatal(err)
	}
	text := (*first.memory.ring.Load())[0].text(newToken(noon).as(passByStyle), &here)
	second := &keeper{memory: NewMemory(), storage: storage}
	if err := second.sync(ctx, noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if second.memory.ring.Load().open(text, &here) == (token{}) {
		t.Error("another server does not know the pass")
	}
	storage.err = errors.New("no storage")
	if err := first.sync(ctx, noon.Add(time.Hour)); err != nil || len(*first.memory.ring.Load()) != 2 {
		t.Errorf("an outage of the storage costs the key: %v", err)
	}
}

// sharedSet is the set of keys of a fleet.
type sharedSet struct {
	members []step.Member
	err     error
}

func (s *sharedSet) Members(context.Context, string, int) ([]step.Member, error) {
	return s.members, s.err
}

func (s *sharedSet) AddMembers(_ context.Context, _ string, members []step.Member, _ int) error {
	s.members = append(s.members, members...)
	return nil
}

// Servers of a fleet agree on the key that signs, accept those of all, and keep them in their own
// storages while the fleet does not answer.
func TestKeysOfAFleet(t *testing.T) {
	t.Parallel()
	set := new(sharedSet)
	var servers []*keeper
	for i := range 3 {
		k := &keeper{memory: NewMemory(), storage: &certmagic.FileStorage{Path: t.TempDir()}}
		if i < 2 { // made a key before they joined
			if err := k.sync(t.Context(), noon.Add(-time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		k.fleet = set
		servers = append(servers, k)
	}
	for range 2 {
		for _, k := range servers {
			if err := k.sync(t.Context(), noon); err != nil {
				t.Fatal(err)
			}
		}
	}
	set.err = errors.New("no fleet")
	for i, k := range servers {
		again := &keeper{memory: NewMemory(), storage: k.storage, fleet: set}
		if err := again.sync(t.Context(), noon); err != nil {
			t.Fatal(err)
		}
		if keys := *again.memory.ring.Load(); len(keys) != 3 || keys[0].secret != servers[1].keys[0].secret {
			t.Errorf("server %d has %d keys, or signs with another one", i, len(keys))
		}
	}
}

// A new key is made every 30 days. It signs once all servers know it, and what the former one signed
// stays good. One that was made while a clock was ahead does not sign for ever.
func TestNewKeys(t *testing.T) {
	t.Parallel()
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	one, other := &keeper{memory: NewMemory(), storage: storage}, &keeper{memory: NewMemory(), storage: storage}
	sync := func(k *keeper, at time.Time) ring {
		if err := k.sync(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		return *k.memory.ring.Load()
	}
	ahead := sync(one, noon.AddDate(1, 0, 0))[0]
	first := sync(other, noon)[0]
	if first.secret != ahead.secret || !first.made.Equal(noon) {
		t.Errorf("a key of next year counts as made at %s", first.made)
	}
	due := noon.Add(keyLife + time.Second)
	if keys := sync(other, due); len(keys) != 3 || keys[0] != first {
		t.Errorf("%d keys, or the new one signs at once", len(keys))
	}
	next := sync(other, due.Add(keySettled))[0]
	again := &keeper{memory: NewMemory(), storage: storage}
	if keys := sync(again, due.Add(time.Hour)); next == first || len(keys) != 3 || keys[0].secret != next.secret {
		t.Errorf("%d keys, or servers sign with different ones", len(keys))
	}
	if keys := sync(other, noon.Add(keyKept+time.Second)); len(keys) != 3 || keys[0] != next {
		t.Errorf("the first key is still one of %d", len(keys))
	}
}

// A file that has no keys is replaced, and health says so for a day; none is while the storage
// can't be reached.
func TestDamagedKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", "{}", "[]", "[{}]", `[{"made":1,"secret":"AAAA"}]`, "[null]"} {
		storage := &certmagic.FileStorage{Path: t.TempDir()}
		if err := storage.Store(t.Context(), keysName, []byte(text)); err != nil {
			t.Fatal(err)
		}
		for i, damaged := range []bool{true, false} { // before and after a restart
			k := &keeper{memory: NewMemory(), storage: storage}
			if err := k.sync(t.Context(), noon); err != nil || len(*k.memory.ring.Load()) != 2 {
				t.Errorf("%s, %d: %v, or no key", text, i, err)
			}
			check := New(k.memory, Config{}, handlerKey)
			for days, want := range []bool{damaged, false} {
				if since, err := check.Keys(noon.AddDate(0, 0, days)); err != nil || since.IsZero() == want {
					t.Errorf("%s, %d, after %d days: damaged since %v, %v", text, i, days, since, err)
				}
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
		c := New(m, Config{Name: "challenge /x", Over: 60, Window: window}, handlerKey)
		if s := c.storm(q, 1); s.window != int(window/time.Second) {
			t.Errorf("the window is %d s, want %s", s.window, window)
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
