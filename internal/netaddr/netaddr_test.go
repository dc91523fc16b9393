package netaddr

import (
	"net/netip"
	"testing"
)

func TestClient(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1":               "192.0.2.1",
		"::ffff:192.0.2.1":        "192.0.2.1",
		"64:ff9b::192.0.2.1":      "192.0.2.1",
		"64:ff9b::1:192.0.2.1":    "64:ff9b::", // not in the /96
		"64:ff9b:1::192.0.2.1":    "64:ff9b:1::",
		"2001:db8::1":             "2001:db8::",
		"2001:db8:0:1:2:3:4:5":    "2001:db8:0:1::",
		"fe80::1%eth0":            "fe80::",
		"::1":                     "::",
		"64:ff9b::ffff:192.0.2.1": "64:ff9b::",
	} {
		if got := Client(netip.MustParseAddr(addr)); got != netip.MustParseAddr(want) {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	if got := Client(netip.Addr{}); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
	if n := testing.AllocsPerRun(100, func() { Client(netip.MustParseAddr("64:ff9b::192.0.2.1")) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
