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

	"github.com/caddy-robots/caddy-robots/enforce/suspect"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// suspectKey is where the key of trap URLs lies in Caddy's storage. It is made
// once, and all servers that share the storage share it.
const suspectKey = "robots/suspects/key"

// suspectLogLines is how many log lines a minute at most tell of suspects.
const suspectLogLines = 20

// How signals are shared with a fleet.
const (
	suspectSet    = "suspects"
	shareEvery    = time.Second
	shareDeadline = time.Second
	sharedSignals = 1 << 14 // the newest that are kept
	keyRetry      = time.Second
	keyRetryMost  = time.Minute
)

// pooledWatch is the value of pool for what visitors did: it outlives the
// configuration.
type pooledWatch struct {
	*suspect.Watch
	own    *suspect.Key                // signs until the key of the storage is read, and is good after that too
	key    atomic.Pointer[suspect.Key] // signs
	log    atomic.Pointer[zap.Logger]  // of the newest configuration
	stored atomic.Bool                 // the key is that of the storage
}

// watchVisitors returns what remembers visitors. Its key is read once the app has
// started, and signals are shared with the fleet, if there is one.
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

// newPooledWatch has a key of its own until that of the storage is read.
func newPooledWatch() (*pooledWatch, error) {
	p := new(pooledWatch)
	p.Watch = suspect.NewWatch(suspect.Config{Observer: p})
	p.log.Store(zap.NewNop())
	var err error
	p.own, err = suspect.NewKey(newSecret())
	p.key.Store(p.own)
	return p, err
}

// hit tells what a request target has to do with a trap.
func (p *pooledWatch) hit(trap suspect.Trap, target string, v *suspect.Request, now time.Time) suspect.Hit {
	hit := trap.Hit(p.key.Load(), target, v.Site, v.Client, now)
	if hit == suspect.StaticHit {
		return trap.Hit(p.own, target, v.Site, v.Client, now)
	}
	return hit
}

// pressed reports whether a token is that of a button which this client was
// given lately.
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
	p.log.Load().Info("a client behaves like a robot and says that it is a browser",
		zap.String("host", clip(s.Site)), zap.Stringer("network", s.Network), zap.String("browser", s.Browser.Family), zap.Int("version", s.Browser.Version),
		zap.Stringer("signals", signals), zap.Int("documents", s.Documents), zap.Int("embedded", s.Embedded), zap.Time("until", s.Until))
}

// run reads the key, and shares signals with a fleet, which may be nil, until
// ctx ends.
func (p *pooledWatch) run(ctx context.Context, storage certmagic.Storage, fleet *pooledFleet) {
	for pause := keyRetry; !p.stored.Load(); pause = min(2*pause, keyRetryMost) {
		key, err := loadKey(ctx, storage)
		if err == nil {
			p.key.Store(key)
			p.SetKey(key)
			p.stored.Store(true)
			break
		}
		p.log.Load().Error("suspects: the key of trap URLs can't be read or stored: until then, trap URLs are valid in this process only", zap.Error(err))
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

// share tells a fleet of the signals that were raised here, and hears of the
// others. What fails is tried again with the next signals: the fleet logs
// itself that its server is away.
func (p *pooledWatch) share(ctx context.Context, f *throttle.Fleet, known string) (version string) {
	ctx, cancel := context.WithTimeout(ctx, shareDeadline)
	defer cancel()
	if news := p.news(); len(news) > 0 {
		if err := f.AddMembers(ctx, suspectSet, news, suspect.Remember, sharedSignals); err != nil {
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
	p.Hear(marks)
	return version
}

// news returns the signals that were raised since it was called last.
func (p *pooledWatch) news() (news []throttle.Member) {
	for {
		select {
		case mark := <-p.Watch.Raised():
			news = append(news, throttle.Member{Name: mark.Encode(), Time: mark.Time})
			continue
		default:
		}
		return news
	}
}

// sleep waits, and reports false as soon as ctx ends.
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

// loadKey reads the key from the storage, and makes it where there is none.
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

// makeKey stores a new key, unless another server was faster.
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

// Suspects returns the clients that are suspects now, the latest first, and at
// most limit of them. Without `suspects` there are none. It is safe for
// concurrent use.
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

// maxListed is more than there are suspects in a list.
const maxListed = 1 << 20

// Interface guards
var (
	_ suspect.Observer     = (*pooledWatch)(nil)
	_ caddy.Destructor     = (*pooledWatch)(nil)
	_ prometheus.Collector = (*suspectCollector)(nil)
)
