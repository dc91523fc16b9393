package caddymodule

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// suspectKey is the name of the key of trap URLs in Caddy's storage. It is made
// once. All servers with the same storage share it.
const suspectKey = "robots/suspects/key"

// suspectLogLines is the largest number of log lines about suspects in a minute.
const suspectLogLines = 20

// Parameters of sharing signals with a fleet, and of reading the key.
const (
	suspectSet    = "suspects"
	shareEvery    = time.Second
	shareDeadline = time.Second
	sharedSignals = 1 << 14 // the largest number of signals that the fleet keeps
	keyRetry      = time.Second
	keyRetryMost  = time.Minute
)

// pooledWatch is the value of pool that records the behaviour of visitors. It
// outlives the configuration.
type pooledWatch struct {
	*suspect.Watch
	own    *suspect.Key                // the key of this process: signs until the stored key is read, and stays valid
	key    atomic.Pointer[suspect.Key] // the key that signs now
	log    atomic.Pointer[zap.Logger]  // of the newest configuration
	stored atomic.Bool                 // key is the stored key
}

// watchVisitors returns the process's watch. After Start it reads its key, and
// shares signals with the fleet, if there is one.
func (a *App) watchVisitors(ctx caddy.Context, limiter throttle.Limiter) (*pooledWatch, error) {
	p, err := pooled(a, "suspects", newPooledWatch)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	known := a.visitors != nil
	a.visitors = p
	if f, ok := limiter.(*pooledFleet); ok && a.suspectFleet == nil {
		a.suspectFleet = f
	}
	a.mu.Unlock()
	if known {
		return p, nil
	}
	a.onStart(func() {
		p.log.Store(sampled(a.log.Named("suspects"), suspectLogLines))
		running, stop := context.WithCancel(context.Background())
		var ended sync.WaitGroup
		ended.Go(func() { p.run(running, a.storage(ctx), a.suspectFleet) })
		suspectWatches.all.Store(p, nil)
		a.mu.Lock()
		a.stops = append(a.stops, func() error { stop(); ended.Wait(); return nil })
		a.mu.Unlock()
	})
	return p, nil
}

// newPooledWatch returns a watch with a random key.
func newPooledWatch() (*pooledWatch, error) {
	p := new(pooledWatch)
	p.Watch = suspect.NewWatch(suspect.Config{Observer: p})
	p.log.Store(zap.NewNop())
	var err error
	p.own, err = suspect.NewKey(newSecret())
	p.key.Store(p.own)
	return p, err
}

// hit returns whether and how a request target hits a trap.
func (p *pooledWatch) hit(trap suspect.Trap, target string, v *suspect.Request, now time.Time) suspect.Hit {
	hit := trap.Hit(p.key.Load(), target, v.Site, v.Client, now)
	if hit == suspect.StaticHit {
		return trap.Hit(p.own, target, v.Site, v.Client, now)
	}
	return hit
}

// pressed reports whether a token is valid: it belongs to a button that this
// client got recently.
func (p *pooledWatch) pressed(token string, v *suspect.Request, now time.Time) bool {
	return p.key.Load().Pressed(token, v.Site, v.Client, v.UserAgent, now) || p.own.Pressed(token, v.Site, v.Client, v.UserAgent, now)
}

func newSecret() []byte {
	secret := make([]byte, suspect.KeySize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// Destruct implements caddy.Destructor.
func (p *pooledWatch) Destruct() error {
	suspectWatches.all.Delete(p)
	return nil
}

// Raised implements suspect.Observer.
func (*pooledWatch) Raised(s suspect.Signal) { suspectSignals.WithLabelValues(s.String()).Inc() }

// Suspected implements suspect.Observer.
func (p *pooledWatch) Suspected(s *suspect.Suspect) {
	suspectsFound.Inc()
	var signals suspect.Signals
	for _, c := range s.Signals {
		signals |= 1 << c.Signal
	}
	p.log.Load().Info("a client behaves like a robot and sends a browser's User-Agent",
		zap.String("host", clip(s.Site)), zap.Stringer("network", s.Network), zap.String("browser", s.Browser.Family), zap.Int("version", s.Browser.Version),
		zap.Stringer("signals", signals), zap.Int("documents", s.Documents), zap.Int("embedded", s.Embedded), zap.Time("until", s.Until))
}

// run reads the key, and then shares signals with a fleet until ctx ends. The
// fleet may be nil.
func (p *pooledWatch) run(ctx context.Context, storage certmagic.Storage, fleet *pooledFleet) {
	for pause := keyRetry; !p.stored.Load(); pause = min(2*pause, keyRetryMost) {
		key, err := loadKey(ctx, storage)
		if err == nil {
			p.key.Store(key)
			p.SetKey(key)
			p.stored.Store(true)
			break
		}
		p.log.Load().Error("suspects: the key of trap URLs can't be read or stored: for now, trap URLs are valid in this process only", zap.Error(err))
		if !sleep(ctx, pause) {
			return
		}
	}
	if fleet == nil {
		return
	}
	p.Share()
	for version := "-"; sleep(ctx, shareEvery); {
		if f := fleet.fleet.Load(); f != nil {
			version = p.share(ctx, f, version)
		}
	}
}

// share sends the new signals of this process to a fleet, and gets those of the
// other servers. It returns the version of the fleet's signals. Errors are not
// logged, because the fleet logs that Redis does not answer.
func (p *pooledWatch) share(ctx context.Context, f *throttle.Fleet, known string) (version string) {
	ctx, cancel := context.WithTimeout(ctx, shareDeadline)
	defer cancel()
	if added := p.newSignals(); len(added) > 0 {
		if err := f.AddMembers(ctx, suspectSet, added, suspect.Remember, sharedSignals); err != nil {
			suspectShares.WithLabelValues("error").Inc()
			return known
		}
		suspectShares.WithLabelValues("ok").Inc()
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
	p.SetMarks(marks)
	return version
}

// newSignals returns the signals that were raised since the last call.
func (p *pooledWatch) newSignals() (list []throttle.Member) {
	for {
		select {
		case mark := <-p.Watch.Raised():
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

// Suspects returns the clients that are suspects now, the latest ones first, and
// at most limit of them. It returns none if no handler has Settings.Suspects. It
// is safe for concurrent use.
func (a *App) Suspects(limit int) []suspect.Suspect {
	a.mu.Lock()
	p := a.visitors
	a.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.Watch.Suspects(clock.Now(), limit)
}

// suspectCollector reports on the suspects of the process.
type suspectCollector struct {
	count *prometheus.Desc
	all   sync.Map // *pooledWatch
}

// Describe implements prometheus.Collector.
func (c *suspectCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.count }

// Collect implements prometheus.Collector.
func (c *suspectCollector) Collect(ch chan<- prometheus.Metric) {
	c.all.Range(func(p, _ any) bool {
		n := len(p.(*pooledWatch).Suspects(clock.Now(), maxListed))
		ch <- prometheus.MustNewConstMetric(c.count, prometheus.GaugeValue, float64(n))
		return true
	})
}

// maxListed is larger than any number of suspects.
const maxListed = 1 << 20

// Interface guards
var (
	_ suspect.Observer     = (*pooledWatch)(nil)
	_ caddy.Destructor     = (*pooledWatch)(nil)
	_ prometheus.Collector = (*suspectCollector)(nil)
)
