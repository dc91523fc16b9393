package judge

import (
	"runtime"
	"sync"
	"weak"

	"github.com/caddy-robots/caddy-robots/internal/background"
)

// interned has the values that are in use, by what they are made of. So equal
// ones exist once in the process, also before and after a reload.
type interned[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]weak.Pointer[V]
}

// get returns the value with a key. If there is none, create makes it, which may
// take long.
func (s *interned[K, V]) get(key K, create func() (*V, error)) (*V, error) {
	if known := s.known(key); known != nil {
		return known, nil
	}
	v, err := create()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.byKey[key].Value(); other != nil {
		return other, nil
	}
	if s.byKey == nil {
		s.byKey = make(map[K]weak.Pointer[V])
	}
	s.byKey[key] = weak.Make(v)
	runtime.AddCleanup(v, func(key K) { _ = background.Run("rules", func() { s.forget(key) }) }, key)
	return v, nil
}

func (s *interned[K, V]) known(key K) *V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[key].Value()
}

func (s *interned[K, V]) forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[key].Value() == nil {
		delete(s.byKey, key)
	}
}
