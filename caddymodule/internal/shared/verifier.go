package shared

import (
	"context"
	"io/fs"
	"sync/atomic"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Verifier is a verifier with its observer. It uses the storage and the log of
// the newest configuration that was started.
type Verifier struct {
	*verify.Verifier
	Observer metrics.Verification
	storage  storage
}

// NewVerifier returns a verifier. It uses the network after Start.
func NewVerifier(config verify.Config) *Verifier {
	v := new(Verifier)
	config.Storage, config.Observer = &v.storage, &v.Observer
	v.Verifier = verify.New(config)
	return v
}

// Start starts the verifier, once. From now on it uses this storage and log.
func (v *Verifier) Start(s certmagic.Storage, log *zap.Logger) {
	v.storage.current.Store(&s)
	v.Observer.Start(v.Verifier, log)
	v.Verifier.Start()
}

// Close ends the verifier.
func (v *Verifier) Close() error {
	v.Observer.Close()
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
