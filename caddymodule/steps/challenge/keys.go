package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
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
	"github.com/caddy-robots/caddy-robots/internal/words"
)

const (
	// maxKeys bounds the keys: those of servers that joined a fleet are accepted beside its own.
	maxKeys = 8
	// keyLen is the length of a key, a text of crypto/rand, in octets.
	keyLen = 26
)

// ring has the keys that are accepted, of which the first signs. It is immutable.
type ring []string

// keysName is the name of the keys in Caddy's storage, a line each, and keySet that of their set
// in a fleet.
const (
	keysName = "robots/challenge/keys"
	keySet   = "challenge-keys"
)

// Times of the exchange of keys with the storage and with a fleet.
const (
	syncEvery    = 10 * time.Second
	syncDeadline = 5 * time.Second
)

// keeper keeps the keys of a Memory, of the storage and of a fleet equal.
type keeper struct {
	memory  *Memory
	storage certmagic.Storage
	fleet   step.Store // nil without
	log     *zap.Logger
	known   []string // keys that the storage has too
	stop    context.CancelFunc
	ended   background.Group
}

// keep exchanges keys until the keeper is closed. While there are none that outlive the process,
// passes are signed with one of its own.
func (m *Memory) keep(storage certmagic.Storage, fleet step.Store, log *zap.Logger) *keeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &keeper{memory: m, storage: storage, fleet: fleet, log: log, stop: stop}
	k.ended.Keep(ctx.Done(), "challenge", func() {
		for ctx.Err() == nil {
			k.run(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(syncEvery):
			}
		}
	})
	return k
}

// Close ends the exchange.
func (k *keeper) Close() error {
	k.stop()
	k.ended.Wait()
	return nil
}

// run exchanges the keys once, and notes whether it could.
func (k *keeper) run(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, syncDeadline)
	defer cancel()
	err := k.sync(ctx)
	if before := k.memory.keysFailed.Swap(&err); err != nil && (before == nil || *before == nil) {
		k.log.Error("the keys of passes can't be read or stored: passes may end with this process", zap.Error(err))
	}
	k.memory.ready.Store(true)
}

// sync exchanges the keys once. The oldest one of a fleet signs, so that a server that joins
// changes nothing. An error leaves the keys that are known in force; while the fleet does not
// answer, which it says itself, the servers go on with these too.
func (k *keeper) sync(ctx context.Context) (err error) {
	var shared []step.Member
	var fleetErr error
	if k.fleet != nil {
		shared, fleetErr = k.fleet.Members(ctx, keySet, maxKeys)
	}
	slices.SortFunc(shared, func(a, b step.Member) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Name, b.Name)) })
	keys := joined(words.Map(shared, func(m step.Member) string { return m.Name }), k.known)
	if len(keys) == 0 || !slices.Equal(keys, k.known) {
		keys, err = k.exchange(ctx, keys)
	}
	if len(keys) > 0 {
		accepted := append(ring(slices.Clone(keys)), k.memory.first) // which may have signed a button
		k.memory.ring.Store(&accepted)
	}
	if k.fleet != nil && fleetErr == nil && len(shared) == 0 && len(keys) > 0 { // also after it was emptied
		_ = k.fleet.AddMembers(ctx, keySet, []step.Member{{Name: keys[0], Time: clock.Now()}}, maxKeys)
	}
	return err
}

// joined returns the keys in both lists, each once.
func joined(first, further []string) (all []string) {
	for _, key := range slices.Concat(first, further) {
		if len(all) < maxKeys && !slices.Contains(all, key) && len(key) == keyLen {
			all = append(all, key)
		}
	}
	return all
}

// exchange makes the storage have the keys that are known, and returns all. It makes one if
// there is none, also in the place of text that has none.
func (k *keeper) exchange(ctx context.Context, keys []string) (all []string, err error) {
	if err := k.storage.Lock(ctx, keysName); err != nil { // another server may store one
		return keys, err
	}
	defer func() { _ = k.storage.Unlock(context.WithoutCancel(ctx), keysName) }()
	text, err := k.storage.Load(ctx, keysName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	stored := joined(strings.Fields(string(text)), nil)
	if err == nil && len(stored) == 0 {
		k.memory.damaged.Store(clock.Now().Unix())
	}
	all = joined(keys, stored)
	if len(all) == 0 {
		all = []string{rand.Text()}
	}
	if !slices.Equal(all, stored) {
		if err := k.storage.Store(ctx, keysName, []byte(strings.Join(all, "\n")+"\n")); err != nil {
			return keys, err
		}
	}
	k.known = all
	return all, nil
}
