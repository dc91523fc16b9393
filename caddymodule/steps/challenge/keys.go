package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
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

// maxKeys bounds the keys: those of servers that joined a fleet are accepted beside its own.
const maxKeys = 8

// ring has the keys that are accepted, of which the first signs. It is immutable.
type ring []*seal.Key

// randomSecret returns a new secret of a key, in hexadecimal form.
func randomSecret() string {
	secret := make([]byte, seal.Size)
	_, _ = rand.Read(secret) // never fails
	return hex.EncodeToString(secret)
}

// ringOf returns the keys of the secrets.
func ringOf(secrets ...string) (keys ring) {
	for _, text := range secrets {
		secret, _ := hex.DecodeString(text)
		if k, err := seal.NewKey(secret); err == nil {
			keys = append(keys, k)
		}
	}
	return keys
}

// keysName is the name of the secrets in Caddy's storage, a line each, and keySet that of their set
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
	secrets []string // that are known, also to the storage
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
	var secrets []string
	for _, m := range shared {
		secrets = append(secrets, m.Name)
	}
	secrets = joined(secrets, k.secrets)
	if len(secrets) == 0 || !slices.Equal(secrets, k.secrets) {
		secrets, err = k.exchange(ctx, secrets)
	}
	if len(secrets) > 0 {
		keys := append(ringOf(secrets...), k.memory.first) // which may have signed a button
		k.memory.ring.Store(&keys)
	}
	if k.fleet != nil && fleetErr == nil && len(shared) == 0 && len(secrets) > 0 { // also after it was emptied
		_ = k.fleet.AddMembers(ctx, keySet, []step.Member{{Name: secrets[0], Time: clock.Now()}}, maxKeys)
	}
	return err
}

// joined returns the secrets of both lists that make keys, each once.
func joined(first, further []string) (all []string) {
	for _, text := range slices.Concat(first, further) {
		if len(all) < maxKeys && !slices.Contains(all, text) && len(ringOf(text)) > 0 {
			all = append(all, text)
		}
	}
	return all
}

// exchange makes the storage have the secrets that are known, and returns all. It makes one if
// there is none, also in the place of text that has none.
func (k *keeper) exchange(ctx context.Context, secrets []string) (all []string, err error) {
	all, missing, err := k.read(ctx, secrets)
	if err != nil {
		return secrets, err
	}
	if missing {
		if err := k.storage.Lock(ctx, keysName); err != nil {
			return all, err
		}
		defer func() { _ = k.storage.Unlock(context.WithoutCancel(ctx), keysName) }()
		all, _, err = k.read(ctx, all) // again: another server may have stored some
		if err != nil {
			return secrets, err
		}
		if len(all) == 0 {
			all = []string{randomSecret()}
		}
		if err := k.storage.Store(ctx, keysName, []byte(strings.Join(all, "\n")+"\n")); err != nil {
			return secrets, err
		}
	}
	k.secrets = all
	return all, nil
}

// read returns the secrets that are known, with those of the storage, and reports whether some
// are missing there.
func (k *keeper) read(ctx context.Context, secrets []string) (all []string, missing bool, err error) {
	text, err := k.storage.Load(ctx, keysName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	stored := joined(strings.Fields(string(text)), nil)
	if err == nil && len(stored) == 0 {
		k.memory.damaged.Store(clock.Now().Unix())
	}
	all = joined(secrets, stored)
	return all, len(all) == 0 || !slices.Equal(all, stored), nil
}
