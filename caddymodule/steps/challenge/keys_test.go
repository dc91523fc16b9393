package challenge

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

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
	for _, days := range []int{0, 29, 31, 59} {
		now := noon.AddDate(0, 0, days)
		for _, k := range []*keeper{second, first} { // the second one makes the new key
			if err := k.sync(ctx, now); err != nil {
				t.Fatal(err)
			}
			keys := *k.memory.ring.Load()
			keys = keys[:len(keys)-1] // without that of the process
			if _, from := keys.open(text, &here); from != own {
				t.Errorf("after %d days: %v", days, from)
			}
			if want := 1 + days/31; len(keys) != min(want, 2) && days < 59 {
				t.Errorf("after %d days: %d keys", days, len(keys))
			}
		}
		if a, b := (*first.memory.ring.Load())[0], (*second.memory.ring.Load())[0]; a.secret != b.secret {
			t.Errorf("after %d days the servers sign with different keys", days)
		}
	}
	storage.err = errors.New("no storage")
	if err := first.sync(ctx, noon.AddDate(0, 0, 61)); err == nil || len(*first.memory.ring.Load()) == 1 {
		t.Error("an outage of the storage is no error, or costs the key")
	}
	storage.err = nil
	if err := first.sync(ctx, noon.AddDate(0, 0, 62)); err != nil {
		t.Fatal(err)
	}
	if _, from := first.memory.ring.Load().open(text, &here); from == own {
		t.Error("a key is kept for more than 61 days")
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
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	k := &keeper{memory: NewMemory(), storage: storage}
	if err := k.sync(t.Context(), noon); err != nil {
		t.Fatal(err)
	}
	known := (*k.memory.ring.Load())[0]
	if err := storage.Store(t.Context(), keysName, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := k.sync(t.Context(), noon.Add(time.Hour)); err != nil || (*k.memory.ring.Load())[0].secret != known.secret {
		t.Errorf("keys that are in use are not kept: %v", err)
	}
	if read, damaged, err := load(t.Context(), storage); err != nil || damaged || len(read) != 1 || read[0].secret != known.secret {
		t.Errorf("keys that are in use are not stored: %v", err)
	}
}

// A key from the future counts as made when it was first seen, also after a restart.
func TestKeysFromTheFuture(t *testing.T) {
	t.Parallel()
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	var last *keeper
	for _, at := range []time.Time{noon.AddDate(1, 0, 0), noon, noon.AddDate(0, 0, 29), noon.AddDate(0, 0, 31)} {
		for _, k := range []*keeper{last, {memory: NewMemory(), storage: storage}} {
			if last = k; k == nil {
				continue
			}
			if err := k.sync(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
		keys := *last.memory.ring.Load()
		want := 2 // with that of the process
		if at.After(noon.AddDate(0, 0, 30)) && at.Before(noon.AddDate(0, 6, 0)) {
			want = 3
		}
		if len(keys) != want || keys[0].made.After(at) {
			t.Errorf("at %v: %d keys, the first from %v", at, len(keys), keys[0].made)
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
