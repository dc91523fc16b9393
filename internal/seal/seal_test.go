package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
)

// The signature is HMAC-SHA-256, and each part of the text changes it.
func TestSign(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, Size)
	k, err := NewKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, secret)
	network := [16]byte{1, 2, 3}
	mac.Write([]byte{1, 0, 0, 0, 0, 0, 0, 0, 5})
	mac.Write(network[:])
	mac.Write([]byte("\x00\x04site" + "text"))
	if got := k.Sign(1, 5, network, "site", "text"); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Errorf("%x", got)
	}
	long := strings.Repeat("x", 10_000)
	seen := map[[32]byte]bool{
		k.Sign(1, 5, network, "site", "text"): true, k.Sign(1, 5, network, "sitet", "ext"): true,
		k.Sign(1, 6, network, "site", "text"): true, k.Sign(2, 5, network, "site", "text"): true,
		k.Sign(1, 5, [16]byte{}, "site", "text"): true, k.Sign(1, 5, network, long, long): true,
	}
	if len(seen) != 6 {
		t.Errorf("%d different signatures, want 6", len(seen))
	}
	if _, err := NewKey(secret[1:]); err == nil {
		t.Error("NewKey accepts a short secret")
	}
}
