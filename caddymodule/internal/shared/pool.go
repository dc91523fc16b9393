package shared

import (
	"errors"
	"io"
	"slices"

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

// User is embedded in a Caddy module that uses values until its configuration ends.
type User struct{ releases []func() error }

// Use is Get for a module, which releases the value when Caddy cleans it up.
func Use[T any](u *User, key string, create func() T) T {
	value, release := Get(key, create)
	u.releases = append(u.releases, release)
	return value
}

// Cleanup implements caddy.CleanerUpper.
func (u *User) Cleanup() (err error) {
	for _, release := range slices.Backward(u.releases) {
		err = errors.Join(err, release())
	}
	return err
}
