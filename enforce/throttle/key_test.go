package throttle

import (
	"net/netip"
	"slices"
	"testing"
)

// A client is the /64 network of an IPv6 address, or a whole IPv4 address.
func TestClientKey(t *testing.T) {
	k := NewKey("a")
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

// A key is the same in every process. It is a SHA-256 hash of the parts, each
// with its length in 64 bits before it.
func TestKeyIsTheSameInEveryProcess(t *testing.T) {
	if got, want := NewKey("https://example.com:443", "gptbot"), (Key{0x898dce59ffc7cb1a, 0x35f9db622bc7adc2}); got != want {
		t.Errorf("NewKey = %#x, want %#x", got, want)
	}
	if got, want := (Key{1, 2}).Client(address(1)), (Key{0x33124184f106413d, 0x7703ade8209a514f}); got != want {
		t.Errorf("Client = %#x, want %#x", got, want)
	}
}

func TestKeysDiffer(t *testing.T) {
	keys := []Key{NewKey(), NewKey(""), NewKey("", ""), NewKey("a", "bc"), NewKey("ab", "c"), NewKey("abc"), NewKey("a", "b", "c")}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	if n := len(keys); len(slices.Compact(keys)) != n {
		t.Errorf("keys of different parts are the same: %v", keys)
	}
	seen := make(map[Key]bool)
	base := NewKey("a")
	for i := range 1_000_000 {
		seen[base.Client(address(i))] = true
	}
	if len(seen) != 1_000_000 {
		t.Errorf("%d keys for a million addresses", len(seen))
	}
}
