package verify

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// verifier is a verify.Verifier with its observer. It uses the storage and the log of
// the newest configuration that was started.
type verifier struct {
	*verify.Verifier
	observer observer
	storage  storage
}

// newVerifier returns a verifier. It uses the network after Start.
func newVerifier(config verify.Config) *verifier {
	v := new(verifier)
	config.Storage, config.Observer = &v.storage, &v.observer
	v.Verifier = verify.New(config)
	return v
}

// Start starts the verifier, once. From now on it uses this storage and log.
func (v *verifier) Start(s certmagic.Storage, log *zap.Logger) {
	v.storage.current.Store(&s)
	v.observer.log.Set(metrics.Limited(log, logLines))
	verifiers.Report(v, v)
	v.Verifier.Start()
}

// Close ends the verifier.
func (v *verifier) Close() error {
	verifiers.Forget(v)
	v.Verifier.Close()
	return nil
}

// storage is a verify.Storage that is empty before the first Start.
type storage struct {
	current atomic.Pointer[certmagic.Storage]
}

// Load implements verify.Storage.
func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	if to := s.current.Load(); to != nil {
		return (*to).Load(ctx, key)
	}
	return nil, fs.ErrNotExist
}

// Store implements verify.Storage.
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	if to := s.current.Load(); to != nil {
		return (*to).Store(ctx, key, value)
	}
	return nil
}
