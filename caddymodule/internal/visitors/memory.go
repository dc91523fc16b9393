package visitors

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/seal"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// suspectKey is the name of the key of trap URLs in Caddy's storage. It is made
// once. All servers with the same storage share it.
const suspectKey = "robots/suspects/key"

// Parameters of sharing signals with a fleet, and of reading the key.
const (
	suspectSet    = "suspects"
	shareEvery    = time.Second
	shareDeadline = time.Second
	sharedSignals = 1 << 14 // the largest number of signals that the fleet keeps
	keyRetry      = time.Second
	keyRetryMost  = time.Minute
)

// Memory remembers the behaviour of the visitors of all sites. It outlives a
// configuration. It is safe for concurrent use.
type Memory struct {
	*suspect.Watch
	observer metrics.Suspects
	own      *suspect.Key                // the key of this process: signs until the stored key is read, and stays valid
	key      atomic.Pointer[suspect.Key] // the key that signs now
}

// NewMemory returns a Memory with a random key.
func NewMemory() *Memory {
	v := new(Memory)
	v.Watch = suspect.NewWatch(suspect.Config{Observer: &v.observer})
	v.own, _ = suspect.NewKey(newSecret()) // a secret of the right size is no error
	v.key.Store(v.own)
	return v
}

// Run reads the key from the storage, and then shares signals with a fleet until
// ctx ends. The fleet may be nil.
func (v *Memory) Run(ctx context.Context, storage certmagic.Storage, fleet *shared.Fleet, log *zap.Logger) {
	v.observer.Start(v.Watch, log)
	for pause := keyRetry; v.key.Load() == v.own; pause = min(2*pause, keyRetryMost) {
		key, err := loadKey(ctx, storage)
		if err == nil {
			v.key.Store(key)
			break
		}
		v.observer.KeyFailed(err)
		if !sleep(ctx, pause) {
			return
		}
	}
	if fleet == nil {
		return
	}
	v.Share(v.key.Load())
	for version := "-"; sleep(ctx, shareEvery); {
		if f := fleet.Connected(); f != nil {
			version = v.share(ctx, f, version)
		}
	}
}

// Close ends the report of suspects.
func (v *Memory) Close() error {
	v.observer.Close()
	return nil
}

// hit returns whether and how a request target hits a trap.
func (v *Memory) hit(trap suspect.Trap, target string, r *suspect.Request, now time.Time) suspect.Hit {
	hit := trap.Hit(v.key.Load(), target, r.Site, r.Client, now)
	if hit == suspect.StaticHit {
		return trap.Hit(v.own, target, r.Site, r.Client, now)
	}
	return hit
}

func newSecret() []byte {
	secret := make([]byte, seal.Size)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// share sends the new signals of this process to a fleet, and gets those of the
// other servers. It returns the version of the fleet's signals. Errors are not
// logged, because the fleet logs that Redis does not answer.
func (v *Memory) share(ctx context.Context, f *throttle.Fleet, known string) (version string) {
	ctx, cancel := context.WithTimeout(ctx, shareDeadline)
	defer cancel()
	if added := v.newSignals(); len(added) > 0 {
		err := f.AddMembers(ctx, suspectSet, added, suspect.Remember, sharedSignals)
		v.observer.Shared(err)
		if err != nil {
			return known
		}
	}
	members, version, err := f.Members(ctx, suspectSet, known, sharedSignals)
	if err != nil || version == known {
		return known
	}
	marks := make([]suspect.Mark, 0, len(members))
	for _, m := range members {
		if mark, ok := suspect.DecodeMark(m.Name, m.Time); ok {
			marks = append(marks, mark)
		}
	}
	v.SetMarks(marks)
	return version
}

// newSignals returns the signals that were raised since the last call.
func (v *Memory) newSignals() (list []throttle.Member) {
	for {
		select {
		case mark := <-v.Watch.Raised():
			list = append(list, throttle.Member{Name: mark.Encode(), Time: mark.Time})
			continue
		default:
		}
		return list
	}
}

// sleep waits for d. It returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// loadKey reads the key from the storage, or makes one if there is none.
func loadKey(ctx context.Context, storage certmagic.Storage) (*suspect.Key, error) {
	secret, err := storage.Load(ctx, suspectKey)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = makeKey(ctx, storage)
	}
	if err != nil {
		return nil, err
	}
	return suspect.NewKey(secret)
}

// makeKey stores a new key, unless another server has just stored one.
func makeKey(ctx context.Context, storage certmagic.Storage) (secret []byte, err error) {
	if err := storage.Lock(ctx, suspectKey); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, storage.Unlock(context.WithoutCancel(ctx), suspectKey))
	}()
	secret, err = storage.Load(ctx, suspectKey)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	secret = newSecret()
	return secret, storage.Store(ctx, suspectKey, secret)
}
