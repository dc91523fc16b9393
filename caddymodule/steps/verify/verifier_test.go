package verify

import (
	"testing"

	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// A verifier that is closed leaves no goroutines, and is not reported any longer.
func TestClosedVerifierLeavesNoGoroutines(t *testing.T) {
	current := goleak.IgnoreCurrent()
	v := newVerifier(verify.Config{Lists: true})
	for range 2 { // each configuration starts it
		v.Start(&certmagic.FileStorage{Path: t.TempDir()}, zap.NewNop())
	}
	if n := len(verifiers.Values()); n != 1 {
		t.Errorf("%d verifiers are reported", n)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if n := len(verifiers.Values()); n != 0 {
		t.Errorf("%d verifiers are reported after Close", n)
	}
	if err := goleak.Find(current); err != nil {
		t.Error(err)
	}
}
