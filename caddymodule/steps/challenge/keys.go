package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/internal/seal"
)

// key is a secret that tokens are signed with.
type key struct {
	*seal.Key
	secret string
	made   time.Time // in whole seconds
}

// newKey returns the key for a secret, nil if the secret has a wrong length.
func newKey(secret string, made time.Time) *key {
	k, err := seal.NewKey([]byte(secret))
	if err != nil {
		return nil
	}
	return &key{k, secret, made}
}

// randomKey returns a new key.
func randomKey(made time.Time) *key {
	secret := make([]byte, seal.Size)
	_, _ = rand.Read(secret) // never fails
	return newKey(string(secret), made.Truncate(time.Second))
}

// A new key is made every 30 days. It signs when all servers know it, and is accepted for as long
// as what it signed may be good.
const (
	keyLife    = 30 * 24 * time.Hour
	keyKept    = 2*keyLife + mostPassFor
	keySettled = time.Minute
	maxKeys    = 8 // servers of a fleet may make several at the same time
)

// ring has the keys that are accepted, of which the first signs. It is immutable.
type ring []*key

// with returns the ring with further keys, the oldest one first, and without those that are too
// old. A key from the future, made while a clock was ahead, counts as made now: else it would
// sign for ever.
func (r ring) with(more ring, now time.Time) ring {
	all := slices.Clone(r)
	for _, k := range more {
		if slices.ContainsFunc(all, func(have *key) bool { return have.secret == k.secret }) {
			continue
		}
		if k.made.After(now) {
			k = newKey(k.secret, now.Truncate(time.Second))
		}
		all = append(all, k)
	}
	all = slices.DeleteFunc(all, func(k *key) bool { return now.Sub(k.made) > keyKept })
	slices.SortFunc(all, func(a, b *key) int { return cmp.Or(a.made.Compare(b.made), strings.Compare(a.secret, b.secret)) })
	return all[max(0, len(all)-maxKeys):]
}

// isOld reports whether a new key is needed.
func (r ring) isOld(now time.Time) bool { return len(r) == 0 || now.Sub(r[len(r)-1].made) > keyLife }

// signing returns the ring with the key first that signs now: the newest one that all servers know.
func (r ring) signing(now time.Time) ring {
	n := 0
	for i, k := range r {
		if now.Sub(k.made) >= keySettled {
			n = i
		}
	}
	return slices.Concat(r[n:n+1], r[:n], r[n+1:])
}

// keysName is the name of the keys in Caddy's storage, and keySet that of their set in a fleet.
const (
	keysName = "robots/challenge/keys"
	keySet   = "challenge-keys"
)

// storedKey is a key in Caddy's storage.
type storedKey struct {
	Made   int64  `json:"made"` // in seconds since 1970
	Secret []byte `json:"secret"`
}

// load reads the keys from the storage. Text that has none is damaged, and no error: a new
// key takes its place.
func load(ctx context.Context, storage certmagic.Storage) (keys ring, damaged bool, err error) {
	text, err := storage.Load(ctx, keysName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var stored []storedKey
	_ = json.Unmarshal(text, &stored) // what can't be read has no keys
	for _, k := range stored[:min(len(stored), maxKeys)] {
		if made := newKey(string(k.Secret), time.Unix(k.Made, 0)); made != nil {
			keys = append(keys, made)
		}
	}
	return keys, len(keys) == 0, nil
}

// store writes the keys to the storage.
func (r ring) store(ctx context.Context, storage certmagic.Storage) error {
	var stored []storedKey
	for _, k := range r {
		stored = append(stored, storedKey{k.made.Unix(), []byte(k.secret)})
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	return storage.Store(ctx, keysName, text)
}

// Times of the exchange of keys with the storage and with a fleet.
const (
	syncEvery    = 10 * time.Second
	syncDeadline = 5 * time.Second
)

// Run reads the keys, makes one every 30 days, and exchanges them with the other servers of a
// fleet, until ctx ends. fleet is nil without one. While there are no keys that outlive the
// process, passes are signed with one of its own.
func (m *Memory) Run(ctx context.Context, storage certmagic.Storage, fleet step.Store, log *zap.Logger) {
	var failed error
	keys := keeper{memory: m, storage: storage, fleet: fleet}
	for {
		err := keys.sync(ctx, clock.Now())
		switch {
		case err != nil && failed == nil:
			log.Error("the keys of passes can't be read or stored: passes may end with this process", zap.Error(err))
		case err == nil && failed != nil:
			log.Info("the keys of passes can be read and stored again")
		}
		failed = err
		m.keysFailed.Store(&err)
		m.ready.Store(true)
		select {
		case <-ctx.Done():
			return
		case <-time.After(syncEvery):
		}
	}
}

// keeping is a Run.
type keeping struct {
	stop  context.CancelFunc
	ended background.Group
}

// keep begins a Run.
func (m *Memory) keep(storage certmagic.Storage, fleet step.Store, log *zap.Logger) *keeping {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeping{stop: stop}
	k.ended.Keep(ctx.Done(), "challenge", func() { m.Run(ctx, storage, fleet, log) })
	return k
}

// Close ends it.
func (k *keeping) Close() error {
	k.stop()
	k.ended.Wait()
	return nil
}

// Keys returns why the keys can't be exchanged with the storage, and when keys that could
// not be read were replaced in the last 24 hours; nil and zero if all is well.
func (c *Check) Keys(now time.Time) (damaged time.Time, err error) {
	m := c.memory
	if at := m.damaged.Load(); at != 0 && now.Sub(time.Unix(at, 0)) < 24*time.Hour {
		damaged = time.Unix(at, 0)
	}
	if failed := m.keysFailed.Load(); failed != nil {
		err = *failed
	}
	return damaged, err
}

// keeper keeps the keys of a Memory, of the storage and of a fleet equal.
type keeper struct {
	memory  *Memory
	storage certmagic.Storage
	fleet   step.Store // nil without
	keys    ring       // that are known
	stored  int        // how many of them the storage has
}

// sync exchanges the keys once. An error leaves those that are known in force. While the fleet
// does not answer, which it says itself, the servers go on with the keys that they have.
func (s *keeper) sync(ctx context.Context, now time.Time) (err error) {
	ctx, cancel := context.WithTimeout(ctx, syncDeadline)
	defer cancel()
	shared, fleetErr := s.fromFleet(ctx)
	s.keys = s.keys.with(shared, now)
	if s.isMissing(now) {
		err = s.exchange(ctx, now)
	}
	if len(s.keys) > 0 {
		accepted := append(s.keys.signing(now), s.memory.first) // which may have signed a button
		s.memory.ring.Store(&accepted)
	}
	if s.fleet != nil && fleetErr == nil && len(shared) < len(s.keys) { // also after it was emptied
		var members []step.Member
		for _, k := range s.keys {
			members = append(members, step.Member{Name: k.secret, Time: k.made})
		}
		_ = s.fleet.AddMembers(ctx, keySet, members, maxKeys)
	}
	return err
}

// exchange makes the storage have the keys that are known, and the other way round, and makes a
// key if one is needed.
func (s *keeper) exchange(ctx context.Context, now time.Time) error {
	missing, err := s.read(ctx, now)
	if err != nil || !missing {
		return err
	}
	if err := s.storage.Lock(ctx, keysName); err != nil {
		return err
	}
	defer func() { _ = s.storage.Unlock(context.WithoutCancel(ctx), keysName) }()
	missing, err = s.read(ctx, now) // again: another server may have stored some
	if err != nil || !missing {
		return err
	}
	keys := s.keys
	if keys.isOld(now) {
		keys = keys.with(ring{randomKey(now)}, now)
	}
	if err := keys.store(ctx, s.storage); err != nil {
		return err
	}
	s.keys, s.stored = keys, len(keys)
	return nil
}

// read reads the keys of the storage, and reports whether some are missing there.
func (s *keeper) read(ctx context.Context, now time.Time) (missing bool, err error) {
	read, damaged, err := load(ctx, s.storage)
	if err != nil {
		return false, err
	}
	if damaged {
		s.memory.damaged.Store(now.Unix())
	}
	s.keys, s.stored = s.keys.with(read, now), len(read)
	return s.isMissing(now), nil
}

// isMissing reports whether the storage lacks keys that are known, or a new one is needed.
func (s *keeper) isMissing(now time.Time) bool {
	return s.stored == 0 || s.stored < len(s.keys) || s.keys.isOld(now)
}

// fromFleet returns the keys of a fleet.
func (s *keeper) fromFleet(ctx context.Context) (keys ring, err error) {
	if s.fleet == nil {
		return nil, nil
	}
	members, err := s.fleet.Members(ctx, keySet, maxKeys)
	for _, m := range members {
		if k := newKey(m.Name, m.Time); k != nil {
			keys = append(keys, k)
		}
	}
	return keys, err
}
