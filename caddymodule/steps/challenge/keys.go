package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
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
	number uint16    // of the secret, so that a token names its key
	made   time.Time // in whole seconds
	secret string
}

// newKey returns the key for a secret, nil if the secret has a wrong length.
func newKey(secret string, made time.Time) *key {
	k, err := seal.NewKey([]byte(secret))
	if err != nil {
		return nil
	}
	sum := sha256.Sum256([]byte("number of " + secret))
	return &key{k, binary.BigEndian.Uint16(sum[:]), made, secret}
}

// equal reports whether two keys are the same, and of the same time.
func (k *key) equal(other *key) bool {
	return k != nil && other != nil && k.secret == other.secret && k.made.Equal(other.made)
}

// randomKey returns a new key.
func randomKey(made time.Time) *key {
	secret := make([]byte, seal.Size)
	_, _ = rand.Read(secret) // never fails
	return newKey(string(secret), made)
}

// Lives of keys. The newest key signs; the others are accepted as long as they are kept.
const (
	keyLife  = 30 * 24 * time.Hour
	keysKept = 2*keyLife + 24*time.Hour
	maxKeys  = 8 // servers of a fleet may make several at the same time
)

// ring has the keys that are accepted, the newest one first. It is immutable.
type ring []*key

// find returns the key with a number, nil if there is none.
func (r ring) find(number uint16) *key {
	for _, k := range r {
		if k.number == number {
			return k
		}
	}
	return nil
}

// with returns the ring with further keys, without those that are too old. A key from the
// future, made while a clock was ahead, counts as made now: else it would sign for ever.
// Of a key with two times, the earlier one counts.
func (r ring) with(more []*key, now time.Time) ring {
	var all ring
	for _, k := range slices.Concat(r, more) {
		if k == nil {
			continue
		}
		if k.made.After(now) {
			k = &key{k.Key, k.number, now.Truncate(time.Second), k.secret}
		}
		at := slices.IndexFunc(all, func(have *key) bool { return have.secret == k.secret })
		switch {
		case at < 0:
			all = append(all, k)
		case k.made.Before(all[at].made):
			all[at] = k
		}
	}
	all = slices.DeleteFunc(all, func(k *key) bool { return now.Sub(k.made) > keysKept })
	slices.SortFunc(all, func(a, b *key) int { return cmp.Or(b.made.Compare(a.made), cmp.Compare(a.secret, b.secret)) })
	return all[:min(len(all), maxKeys)]
}

// needsKey reports whether there is no key that is new enough to sign.
func (r ring) needsKey(now time.Time) bool { return len(r) == 0 || now.Sub(r[0].made) > keyLife }

// keysName is the name of the keys in Caddy's storage, and keySet that of their set in a
// fleet.
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
func load(ctx context.Context, storage certmagic.Storage) (keys []*key, damaged bool, err error) {
	text, err := storage.Load(ctx, keysName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var stored []storedKey
	damaged = json.Unmarshal(text, &stored) != nil || len(stored) == 0
	for _, k := range stored[:min(len(stored), maxKeys)] {
		if made := newKey(string(k.Secret), time.Unix(k.Made, 0)); made != nil {
			keys = append(keys, made)
		} else {
			damaged = true
		}
	}
	return keys, damaged, nil
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

// Run reads the keys, makes a new one when the newest is 30 days old, and exchanges them
// with the other servers of a fleet, until ctx ends. fleet is nil without one. While there
// are no keys that outlive the process, passes are signed with one of its own.
func (m *Memory) Run(ctx context.Context, storage certmagic.Storage, fleet step.Store, log *zap.Logger) {
	if fleet != nil {
		m.inFleet.Store(true)
	}
	failed := false
	m.keysSince.CompareAndSwap(0, clock.Now().UnixNano())
	keys := keeper{memory: m, storage: storage, fleet: fleet}
	for {
		err := keys.sync(ctx, clock.Now())
		if now := err != nil && err != errFleet; now != failed {
			failed = now
			logFailure(log, err)
		}
		m.keysFailed.Store(&err)
		m.ready.Store(true)
		select {
		case <-ctx.Done():
			return
		case <-time.After(syncEvery):
		}
	}
}

// logFailure logs that the keys can't be exchanged, or can be again.
func logFailure(log *zap.Logger, err error) {
	if err == nil || err == errFleet {
		log.Info("the keys of passes can be read and stored again")
		return
	}
	log.Error("the keys of passes can't be read or stored: passes may end with this process", zap.Error(err))
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
	if failed := m.keysFailed.Load(); failed != nil && *failed != errFleet {
		return damaged, *failed
	}
	if since := m.keysSince.Load(); !m.ready.Load() && since != 0 && now.UnixNano()-since > int64(2*syncDeadline) {
		return damaged, errors.New("the storage does not answer")
	}
	return damaged, nil
}

// keeper keeps the keys of a Memory, of the storage and of a fleet equal.
type keeper struct {
	memory  *Memory
	storage certmagic.Storage
	fleet   step.Store // nil without
	stored  ring       // the keys of the storage
	read    time.Time
}

// storageEvery is how often the storage is read again: another server may have made a
// key.
const storageEvery = time.Minute

// sync exchanges the keys once. An error leaves those that are known in force.
func (s *keeper) sync(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, syncDeadline)
	defer cancel()
	keys := s.memory.ring.Load().with(nil, now) // without that of the process, which has no time
	var storageErr error
	if now.Sub(s.read).Abs() >= storageEvery || len(keys) == 0 {
		var read []*key
		var damaged bool
		read, damaged, storageErr = load(ctx, s.storage)
		if storageErr == nil {
			s.read, s.stored = now, read
			keys = keys.with(read, now)
		}
		if damaged {
			s.memory.damaged.Store(now.Unix())
			s.stored = nil // so that it is written again
		}
	}
	known, fleetErr := s.fromFleet(ctx)
	keys = keys.with(known, now)
	if keys.needsKey(now) && storageErr == nil {
		keys, storageErr = s.make(ctx, keys, now)
	} else if storageErr == nil && !slices.EqualFunc(s.stored, keys, (*key).equal) {
		if storageErr = keys.store(ctx, s.storage); storageErr == nil {
			s.stored = keys
		}
	}
	if len(keys) > 0 {
		accepted := append(slices.Clone(keys), s.memory.first) // which may have signed a button
		s.memory.ring.Store(&accepted)
	}
	if fleetErr == nil {
		fleetErr = s.toFleet(ctx, keys, known)
	}
	return cmp.Or(storageErr, fleetErr)
}

// make makes a new key, unless another server has just stored one.
func (s *keeper) make(ctx context.Context, keys ring, now time.Time) (ring, error) {
	if err := s.storage.Lock(ctx, keysName); err != nil {
		return keys, err
	}
	defer func() { _ = s.storage.Unlock(context.WithoutCancel(ctx), keysName) }()
	read, _, err := load(ctx, s.storage)
	if err != nil {
		return keys, err
	}
	if keys = keys.with(read, now); keys.needsKey(now) {
		keys = keys.with([]*key{randomKey(now.Truncate(time.Second))}, now)
		err = keys.store(ctx, s.storage)
	}
	s.stored = keys
	return keys, err
}

// fromFleet returns the keys of a fleet; none if they have not changed. While Redis does
// not answer, the servers go on with the keys that they have.
func (s *keeper) fromFleet(ctx context.Context) (keys []*key, err error) {
	if s.fleet == nil {
		return nil, nil
	}
	members, err := s.fleet.Members(ctx, keySet, maxKeys)
	for _, m := range members {
		keys = append(keys, newKey(m.Name, m.Time))
	}
	if err != nil {
		return nil, errFleet
	}
	return keys, nil
}

// errFleet is not logged: the fleet says itself that Redis does not answer.
var errFleet = errors.New("the fleet does not answer")

// toFleet gives a fleet the keys that it does not have, also after it was emptied.
func (s *keeper) toFleet(ctx context.Context, keys ring, known []*key) error {
	if s.fleet == nil || len(keys) == 0 {
		return nil
	}
	var missing []step.Member
	for _, k := range keys {
		if !slices.ContainsFunc(known, func(have *key) bool { return have != nil && have.secret == k.secret }) {
			missing = append(missing, step.Member{Name: k.secret, Time: k.made})
		}
	}
	if len(missing) > 0 && s.fleet.AddMembers(ctx, keySet, missing, keysKept, maxKeys) != nil {
		return errFleet
	}
	return nil
}
