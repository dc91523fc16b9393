package shared

import (
	"io"

	"github.com/caddyserver/caddy/v2"
)

var pool = caddy.NewUsagePool()

// Get returns the value with a key. If there is none, create makes it. When each
// Get was followed by its release, the value is forgotten, and closed if it is an
// io.Closer. Get is safe for concurrent use; create must not call it.
func Get[T any](key string, create func() T) (value T, release func() error) {
	v, _, _ := pool.LoadOrNew(key, func() (caddy.Destructor, error) { return entry[T]{create()}, nil })
	return v.(entry[T]).value, func() error {
		_, err := pool.Delete(key)
		return err
	}
}

// entry is a caddy.Destructor for a value.
type entry[T any] struct{ value T }

// Destruct implements caddy.Destructor.
func (e entry[T]) Destruct() error {
	if c, ok := any(e.value).(io.Closer); ok {
		return c.Close()
	}
	return nil
}
