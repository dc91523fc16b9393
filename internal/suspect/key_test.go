package suspect

import (
	"bytes"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/seal"
)

func testKey(t testing.TB, fill byte) *Key {
	t.Helper()
	k, err := NewKey(bytes.Repeat([]byte{fill}, seal.Size))
	if err != nil {
		t.Fatal(err)
	}
	return k
}
