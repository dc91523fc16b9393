package challenge

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"regexp"
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

// maxKeys bounds the secrets: those of servers that joined a fleet are accepted beside its own.
const maxKeys = 8

// ring has the secrets that are accepted, of which the first signs. It is immutable.
type ring []string

// secretForm is the form of a secret, such as rand.Text returns.
var secretForm = regexp.MustCompile(`^[0-9A-Za-z]{26,64}$`)

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
	memory   *Memory
	storage  certmagic.Storage
	fleet    step.Store // nil without
	log      *zap.Logger
	secrets  ring // that are known, and were stored
	isStored bool // the storage was read with these
	stop     context.CancelFunc
	ended    background.Group
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
}

// sync exchanges the secrets once. The oldest one of a fleet signs, so that a server that joins
// changes nothing; then come those of the storage. An error leaves those that are known in force;
// while the fleet does not answer, which it says itself, the servers go on with these too.
func (k *keeper) sync(ctx context.Context) (err error) {
	var shared []step.Member
	var fleetErr error
	if k.fleet != nil {
		shared, fleetErr = k.fleet.Members(ctx, keySet, maxKeys)
	}
	slices.SortFunc(shared, func(a, b step.Member) int { return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Name, b.Name)) })
	names := words.Map(shared, func(m step.Member) string { return m.Name })
	if !k.isStored || !slices.Equal(joined(names, k.secrets), k.secrets) {
		err = k.store(ctx, names)
	}
	secrets := joined(names, k.secrets)
	if k.fleet != nil && fleetErr == nil && len(shared) == 0 && len(secrets) > 0 { // also after it was emptied
		_ = k.fleet.AddMembers(ctx, keySet, []step.Member{{Name: secrets[0], Time: clock.Now()}}, maxKeys)
	}
	secrets = append(secrets, k.memory.first) // which may have signed a button
	k.memory.ring.Store(&secrets)
	return err
}

// joined returns the secrets of several lists, each once.
func joined(lists ...[]string) (all ring) {
	for _, secret := range slices.Concat(lists...) {
		if len(all) < maxKeys && !slices.Contains(all, secret) && secretForm.MatchString(secret) {
			all = append(all, secret)
		}
	}
	return all
}

// store makes the storage have the secrets of the fleet and those that are known. It makes one if
// there is none, also in the place of text that has none. Servers that start together may write
// over each other's: so each reads again what it has written.
func (k *keeper) store(ctx context.Context, fleet []string) error {
	text, err := k.storage.Load(ctx, keysName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	stored := joined(strings.Fields(string(text)))
	if err == nil && len(stored) == 0 {
		k.memory.damaged.Store(clock.Now().Unix())
	}
	all := joined(fleet, stored, k.secrets)
	if len(all) == 0 {
		all = ring{rand.Text()}
	}
	k.isStored = slices.Equal(all, stored)
	if !k.isStored {
		if err := k.storage.Store(ctx, keysName, []byte(strings.Join(all, "\n")+"\n")); err != nil {
			return err
		}
	}
	k.secrets = all
	return nil
}
