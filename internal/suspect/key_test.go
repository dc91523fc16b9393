package suspect

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
)

func testKey(t testing.TB, fill byte) *Key {
	t.Helper()
	k, err := NewKey(bytes.Repeat([]byte{fill}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The signature is HMAC-SHA-256, and each part of the text changes it.
func TestSign(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, KeySize)
	k := testKey(t, 7)
	mac := hmac.New(sha256.New, secret)
	network := Network(here)
	mac.Write([]byte{forTrap, 0, 0, 0, 0, 0, 0, 0, 5})
	mac.Write(network[:])
	mac.Write([]byte("\x00\x04site" + "text"))
	if got := k.sign(forTrap, 5, network, "site", "text"); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Errorf("%x", got)
	}
	long := strings.Repeat("x", 10_000)
	seen := map[[32]byte]bool{
		k.sign(forTrap, 5, network, "site", "text"): true, k.sign(forTrap, 5, network, "sitet", "ext"): true,
		k.sign(forTrap, 6, network, "site", "text"): true, k.sign(forAddress, 5, network, "site", "text"): true,
		k.sign(forTrap, 5, [16]byte{}, "site", "text"): true, k.sign(forTrap, 5, network, long, long): true,
	}
	if len(seen) != 6 {
		t.Errorf("%d different signatures, want 6", len(seen))
	}
	if _, err := NewKey(secret[1:]); err == nil {
		t.Error("NewKey accepts a short secret")
	}
}
