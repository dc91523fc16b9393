package visitors

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"github.com/caddyserver/certmagic"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

func TestServersWithOneStorageShareTheKey(t *testing.T) {
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	var all sync.WaitGroup
	keys := make([]*suspect.Key, 8)
	for i := range keys {
		all.Go(func() {
			key, err := loadKey(t.Context(), storage)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, k := range keys {
		if k == nil || *k.Key != *keys[0].Key {
			t.Error("two servers have different keys")
		}
	}
	if err := storage.Store(t.Context(), suspectKey, []byte("short")); err != nil {
		t.Fatal(err)
	}
	if _, err := loadKey(t.Context(), storage); err == nil {
		t.Error("a broken key is accepted")
	}
	if _, err := loadKey(t.Context(), new(failingStorage)); err == nil {
		t.Error("no error for a storage that fails")
	}
	if matches, _ := filepath.Glob(filepath.Join(storage.Path, "locks", "*")); len(matches) != 0 {
		t.Errorf("locks are left: %v", matches)
	}
}

// failingStorage has no key and can't lock.
type failingStorage struct{ certmagic.FileStorage }

func (*failingStorage) Load(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }
func (*failingStorage) Lock(context.Context, string) error           { return errors.New("no lock") }

func TestRunEndsWithItsContext(t *testing.T) {
	current := goleak.IgnoreCurrent()
	for name, storage := range map[string]certmagic.Storage{"a storage": &certmagic.FileStorage{Path: t.TempDir()}, "a storage that fails": new(failingStorage)} {
		v := NewMemory()
		ctx, stop := context.WithCancel(t.Context())
		var ended sync.WaitGroup
		ended.Go(func() { v.Run(ctx, storage, shared.NewFleet(throttle.FleetConfig{}, nil), zap.NewNop()) })
		stop()
		ended.Wait()
		if err := v.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := goleak.Find(current, goleak.IgnoreAnyFunction("github.com/caddyserver/certmagic.keepLockfileFresh")); err != nil {
		t.Error(err)
	}
}
