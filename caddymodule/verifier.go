package caddymodule

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// verifierLogLines is the largest number of log lines about verification with the
// same message in a minute.
const verifierLogLines = 5

// pooledVerifier is the value of pool for one set of verify settings. It uses the
// storage and the log of the newest configuration that was started.
type pooledVerifier struct {
	*verify.Verifier
	log     atomic.Pointer[zap.Logger]
	storage atomic.Pointer[certmagic.Storage]
	failing sync.Map // the URL of a list or directory whose last read failed → the error

	dnsFailures atomic.Int64 // lookups in a row that failed
}

// verifier returns the verifier for the settings. It outlives the configuration.
// Its network use begins when the app starts.
func (a *App) verifier(ctx caddy.Context, v *config.Verify) (*pooledVerifier, error) {
	config, err := v.Config()
	if err != nil {
		return nil, err
	}
	// The key has the address after placeholders are replaced.
	key := fmt.Sprintf("verifier:%s:%t:%t:%t", caddy.NewReplacer().ReplaceAll(v.Resolver, ""), config.Lists, config.DNS, config.Signatures)
	p, err := pooled(a, key, func() (*pooledVerifier, error) {
		p := new(pooledVerifier)
		p.log.Store(zap.NewNop())
		config.Storage, config.Observer = p, p
		p.Verifier = verify.New(config)
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	log := a.log.Named("verify").WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, verifierLogLines, 0)
	}))
	a.onStart(func() {
		storage := ctx.Storage()
		p.log.Store(log)
		p.storage.Store(&storage)
		verifiers.all.Store(p, nil)
		p.Start()
	})
	return p, nil
}

// Destruct implements caddy.Destructor.
func (p *pooledVerifier) Destruct() error {
	verifiers.all.Delete(p)
	p.Close()
	return nil
}

// Load implements verify.Storage.
func (p *pooledVerifier) Load(ctx context.Context, key string) ([]byte, error) {
	if s := p.storage.Load(); s != nil {
		return (*s).Load(ctx, key)
	}
	return nil, fs.ErrNotExist
}

// Store implements verify.Storage.
func (p *pooledVerifier) Store(ctx context.Context, key string, value []byte) error {
	if s := p.storage.Load(); s != nil {
		return (*s).Store(ctx, key, value)
	}
	return nil
}

// SourceRead implements verify.Observer. It logs the first failure of a source;
// further ones are logged at DEBUG only and counted in the metrics.
func (p *pooledVerifier) SourceRead(s verify.SourceState, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	}
	sourceReads.WithLabelValues(s.Kind.String(), outcome).Inc()
	fields := []zap.Field{zap.Stringer("kind", s.Kind), zap.String("url", s.URL), zap.Int("entries", s.Entries)}
	if err == nil {
		if _, failed := p.failing.LoadAndDelete(s.URL); failed {
			p.log.Load().Info("a crawler's list of addresses or directory of keys can be read again", fields...)
		}
		return
	}
	fields = append(fields, zap.Error(err))
	if !s.Read.IsZero() {
		fields = append(fields, zap.Time("last_good_read", s.Read))
	}
	if _, failed := p.failing.Swap(s.URL, err); failed {
		p.log.Load().Debug("a crawler's list of addresses or directory of keys still can't be read", fields...)
		return
	}
	p.log.Load().Warn("a crawler's list of addresses or directory of keys can't be read: the last good copy stays in use, if there is one", fields...)
}

// StorageFailed implements verify.Observer.
func (p *pooledVerifier) StorageFailed(url string, err error) {
	storageFailures.Inc()
	p.log.Load().Warn("the copy of a crawler's list of addresses or directory of keys can't be loaded from storage or stored", zap.String("url", url), zap.Error(err))
}

// Lookup implements verify.Observer.
func (p *pooledVerifier) Lookup(addr netip.Addr, _ []string, state verify.State, took time.Duration, err error) {
	lookups.WithLabelValues(state.String()).Inc()
	if err == nil {
		p.dnsFailures.Store(0)
	} else {
		p.dnsFailures.Add(1)
		p.log.Load().Debug("reverse DNS neither confirms nor refutes a crawler's address",
			zap.Stringer("address", addr), zap.Duration("took", took), zap.Error(err))
	}
}

// LookupDropped implements verify.Observer.
func (*pooledVerifier) LookupDropped() { lookups.WithLabelValues("dropped").Inc() }

// verifierCollector reports on all running verifiers.
type verifierCollector struct {
	age, entries, cache, inFlight *prometheus.Desc
	all                           sync.Map // *pooledVerifier
}

// Describe implements prometheus.Collector.
func (c *verifierCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.age, c.entries, c.cache, c.inFlight} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. If several verifiers use the same
// list, it reports the newest copy.
func (c *verifierCollector) Collect(ch chan<- prometheus.Metric) {
	type source struct{ kind, url string }
	sources := make(map[source]verify.SourceState)
	var stats verify.Stats
	c.all.Range(func(p, _ any) bool {
		v := p.(*pooledVerifier)
		for _, s := range v.Sources() {
			key := source{s.Kind.String(), s.URL}
			if known, ok := sources[key]; !ok || known.Read.Before(s.Read) {
				sources[key] = s
			}
		}
		s := v.Stats()
		stats.Confirmed += s.Confirmed
		stats.Refuted += s.Refuted
		stats.Failed += s.Failed
		stats.InFlight += s.InFlight
		return true
	})
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for key, s := range sources {
		gauge(c.entries, float64(s.Entries), key.kind, key.url)
		if !s.Read.IsZero() {
			gauge(c.age, time.Since(s.Read).Seconds(), key.kind, key.url)
		}
	}
	gauge(c.cache, float64(stats.Confirmed), "confirmed")
	gauge(c.cache, float64(stats.Refuted), "refuted")
	gauge(c.cache, float64(stats.Failed), "failed")
	gauge(c.inFlight, float64(stats.InFlight))
}

// Interface guards
var (
	_ verify.Storage       = (*pooledVerifier)(nil)
	_ verify.Observer      = (*pooledVerifier)(nil)
	_ caddy.Destructor     = (*pooledVerifier)(nil)
	_ prometheus.Collector = (*verifierCollector)(nil)
)
