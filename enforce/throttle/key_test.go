package throttle

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
)

// A client is the /64 network of an IPv6 address, or a whole IPv4 address.
func TestClientKey(t *testing.T) {
	k := newKey("a")
	tests := []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
		{"0.0.0.1", "::1", false},
		{"192.0.2.1", "64:ff9b::192.0.2.1", true},
		{"64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2", false},
	}
	for _, test := range tests {
		a, b := k.Client(netip.MustParseAddr(test.a)), k.Client(netip.MustParseAddr(test.b))
		if (a == b) != test.same {
			t.Errorf("clients %s and %s: %v, %v", test.a, test.b, a, b)
		}
		if a == k || a != a.Disposable() {
			t.Errorf("client %s: %v of %v", test.a, a, k)
		}
	}
}

// A key is the same in every process.
func TestKeyIsTheSameInEveryProcess(t *testing.T) {
	if got, want := (Key{1, 2}).Client(address(1)), (Key{0x33124184f106413d, 0x7703ade8209a514f}); got != want {
		t.Errorf("Client = %#x, want %#x", got, want)
	}
}

// newKey returns a key for parts.
func newKey(parts ...string) Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return KeyOf(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]))
}
