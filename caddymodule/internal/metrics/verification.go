package metrics

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

var (
	lookups = NewCounter("verification_lookups_total",
		"Addresses looked up in reverse DNS, by outcome: verified, impostor, unverified, or dropped because too many lookups were waiting.",
		"outcome")
	sourceReads = NewCounter("verification_fetches_total",
		"Fetches of a list of addresses or a directory of keys, by kind and outcome.", "kind", "outcome")
	storageFailures = NewCounter("verification_storage_failures_total",
		"Failures to load or store the copy of a list of addresses or directory of keys.").WithLabelValues()

	sourceAge = NewDesc("verification_age_seconds",
		"Seconds since the copy in use of a list or directory was last found to be current. Absent without a copy.", "kind", "url")
	sourceEntries = NewDesc("verification_entries",
		"Address prefixes in the copy in use of a list, or keys in the copy of a directory.", "kind", "url")
	cacheEntries = NewDesc("verification_cache_entries", "Addresses in the cache of reverse DNS, by answer: confirmed, refuted or failed.",
		"answer")
	lookupsInFlight = NewDesc("verification_lookups_in_flight", "Reverse DNS lookups that wait or run.")

	verifiers = NewLive(prometheus.GaugeValue, sendVerifiers, sourceAge, sourceEntries, cacheEntries, lookupsInFlight)
)

// verificationLines is the largest number of log lines about verification with
// the same message in a minute.
const verificationLines = 5

// Verification is a verify.Observer. The zero value is ready.
type Verification struct {
	log         Logger
	failing     sync.Map // the URL of a list or directory whose last read failed → the error
	dnsFailures atomic.Int64
}

// Start begins to report on a verifier, and logs to log from now on.
func (v *Verification) Start(verifier *verify.Verifier, log *zap.Logger) {
	v.log.Set(Limited(log, verificationLines))
	verifiers.values.Store(v, verifier)
}

// Close ends the report.
func (v *Verification) Close() { verifiers.values.Delete(v) }

// DNSFailures returns the number of lookups in a row that failed.
func (v *Verification) DNSFailures() int64 { return v.dnsFailures.Load() }

// SourceError returns the error of the last read of a list or directory, nil if
// there was none.
func (v *Verification) SourceError(url string) error {
	err, _ := v.failing.Load(url)
	failure, _ := err.(error)
	return failure
}

// SourceRead implements verify.Observer. It logs the first failure of a source;
// further ones are logged at DEBUG only and counted in the metrics.
func (v *Verification) SourceRead(s verify.SourceState, err error) {
	sourceReads.WithLabelValues(string(s.Kind), resultOf(err, "failed")).Inc()
	log := v.log.Load().With(zap.String("kind", string(s.Kind)), zap.String("url", s.URL), zap.Int("entries", s.Entries))
	if err == nil {
		if _, failed := v.failing.LoadAndDelete(s.URL); failed {
			log.Info("a crawler's list of addresses or directory of keys can be fetched again")
		}
		return
	}
	fields := []zap.Field{zap.Error(err)}
	if !s.Read.IsZero() {
		fields = append(fields, zap.Time("last_good_read", s.Read))
	}
	if _, failed := v.failing.Swap(s.URL, err); failed {
		log.Debug("a crawler's list of addresses or directory of keys still can't be read", fields...)
		return
	}
	log.Warn("a crawler's list of addresses or directory of keys can't be fetched: the last good copy stays in use, if there is one",
		fields...)
}

// StorageFailed implements verify.Observer.
func (v *Verification) StorageFailed(url string, err error) {
	storageFailures.Inc()
	v.log.Load().Warn("the copy of a crawler's list of addresses or directory of keys can't be loaded from storage or stored",
		zap.String("url", url), zap.Error(err))
}

// Lookup implements verify.Observer.
func (v *Verification) Lookup(addr netip.Addr, _ []string, state claim.State, took time.Duration, err error) {
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
func (*Verification) LookupDropped() { lookups.WithLabelValues("dropped").Inc() }

// sendVerifiers sends the metrics of the verifiers. If several use the same list,
// it reports the newest copy.
func sendVerifiers(verifiers []*verify.Verifier, send Sender) {
	type source struct{ kind, url string }
	sources := make(map[source]verify.SourceState)
	var stats verify.Stats
	for _, v := range verifiers {
		for _, s := range v.Sources() {
			key := source{string(s.Kind), s.URL}
			if known, ok := sources[key]; !ok || known.Read.Before(s.Read) {
				sources[key] = s
			}
		}
		s := v.Stats()
		stats.Confirmed += s.Confirmed
		stats.Refuted += s.Refuted
		stats.Failed += s.Failed
		stats.InFlight += s.InFlight
	}
	for key, s := range sources {
		send(sourceEntries, float64(s.Entries), key.kind, key.url)
		if !s.Read.IsZero() {
			send(sourceAge, time.Since(s.Read).Seconds(), key.kind, key.url)
		}
	}
	send(cacheEntries, float64(stats.Confirmed), "confirmed")
	send(cacheEntries, float64(stats.Refuted), "refuted")
	send(cacheEntries, float64(stats.Failed), "failed")
	send(lookupsInFlight, float64(stats.InFlight))
}

// resultOf returns "ok" for no error, and failed for any error.
func resultOf(err error, failed string) string {
	if err != nil {
		return failed
	}
	return "ok"
}
