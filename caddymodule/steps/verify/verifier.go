package verify

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

var (
	lookups = metrics.NewCounter("verification_lookups_total",
		"Reverse DNS lookups, by outcome: verified, impostor, unverified, or dropped (too many waited).",
		"outcome")
	sourceReads = metrics.NewCounter("verification_fetches_total",
		"Fetches of lists and key directories, by kind and outcome.", "kind", "outcome")

	sourceAge = metrics.NewDesc("verification_age_seconds",
		"Seconds since the copy in use of a list or key directory was last found to be current.", "kind", "url")

	verifiers = metrics.NewLive(prometheus.GaugeValue, sendVerifiers, sourceAge)
)

// logLines is the largest number of log lines with the same message in a minute.
const logLines = 5

// verifier is a verify.Verifier, and its observer. It uses the storage and the log of
// the newest configuration that was started.
type verifier struct {
	*verify.Verifier
	log         metrics.Logger
	dnsFailures atomic.Int64 // lookups in a row that failed
}

// newVerifier returns a verifier. It uses the network after Start.
func newVerifier(config verify.Config) *verifier {
	v := new(verifier)
	config.Observer = v
	v.Verifier = verify.New(config)
	return v
}

// Start starts the verifier, once. From now on it uses this storage and log.
func (v *verifier) Start(s verify.Storage, log *zap.Logger) {
	v.log.Set(metrics.Limited(log, logLines))
	verifiers.Report(v, v)
	v.Verifier.Start(s)
}

// Close ends the verifier.
func (v *verifier) Close() error {
	verifiers.Forget(v)
	v.Verifier.Close()
	return nil
}

// SourceRead implements verify.Observer. It logs the first failure of a source;
// further ones are logged at DEBUG only and counted in the metrics.
func (v *verifier) SourceRead(s verify.SourceState) {
	if s.Err == nil {
		sourceReads.WithLabelValues(string(s.Kind), "ok").Inc()
		return
	}
	sourceReads.WithLabelValues(string(s.Kind), "failed").Inc()
	fields := []zap.Field{zap.String("kind", string(s.Kind)), zap.String("url", s.URL), zap.Int("entries", s.Entries), zap.Error(s.Err)}
	if !s.Read.IsZero() {
		fields = append(fields, zap.Time("last_good_read", s.Read))
	}
	if s.Failures > 1 {
		v.log.Load().Debug("a crawler's list of addresses or directory of keys still can't be read", fields...)
		return
	}
	v.log.Load().Warn("a crawler's list of addresses or directory of keys can't be fetched: the last good copy stays in use, if there is one",
		fields...)
}

// Lookup implements verify.Observer.
func (v *verifier) Lookup(addr netip.Addr, _ []string, state claim.State, took time.Duration, err error) {
	lookups.WithLabelValues(state.String()).Inc()
	if err == nil {
		v.dnsFailures.Store(0)
		return
	}
	v.dnsFailures.Add(1)
	v.log.Load().Debug("reverse DNS neither confirms nor refutes a crawler's address",
		zap.Stringer("address", addr), zap.Duration("took", took), zap.Error(err))
}

// LookupDropped implements verify.Observer.
func (*verifier) LookupDropped() { lookups.WithLabelValues("dropped").Inc() }

// sendVerifiers sends the ages of the lists and directories. If several verifiers use the same
// one, that is the age of the newest copy.
func sendVerifiers(verifiers []*verifier, send metrics.Sender) {
	type source struct{ kind, url string }
	read := make(map[source]time.Time)
	for _, v := range verifiers {
		for _, s := range v.Sources() {
			if key := (source{string(s.Kind), s.URL}); s.Read.After(read[key]) {
				read[key] = s.Read
			}
		}
	}
	for key, at := range read {
		send(sourceAge, time.Since(at).Seconds(), key.kind, key.url)
	}
}
