package verify

import (
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// verifier is a verify.Verifier with its observer. It uses the storage and the log of
// the newest configuration that was started.
type verifier struct {
	*verify.Verifier
	observer observer
}

// newVerifier returns a verifier. It uses the network after Start.
func newVerifier(config verify.Config) *verifier {
	v := new(verifier)
	config.Observer = &v.observer
	v.Verifier = verify.New(config)
	return v
}

// Start starts the verifier, once. From now on it uses this storage and log.
func (v *verifier) Start(s verify.Storage, log *zap.Logger) {
	v.observer.log.Set(metrics.Limited(log, logLines))
	verifiers.Report(v, v)
	v.Verifier.Start(s)
}

// Close ends the verifier.
func (v *verifier) Close() error {
	verifiers.Forget(v)
	v.Verifier.Close()
	return nil
}
