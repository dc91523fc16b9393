package suspect

import (
	"net/netip"
	"testing"
	"time"
)

func TestButton(t *testing.T) {
	t.Parallel()
	k := testKey(t, 3)
	token := k.Button("example.com", here, chrome, noon)
	for name, tt := range map[string]struct {
		token, site, ua string
		client          netip.Addr
		at              time.Time
		want            bool
	}{
		"the same client":    {token, "example.com", chrome, here, noon, true},
		"59 minutes later":   {token, "example.com", chrome, here, noon.Add(59 * time.Minute), true},
		"two hours later":    {token, "example.com", chrome, here, noon.Add(2 * time.Hour), false},
		"another address":    {token, "example.com", chrome, netip.MustParseAddr("192.0.2.8"), noon, false},
		"another User-Agent": {token, "example.com", mozilla, here, noon, false},
		"another site":       {token, "example.org", chrome, here, noon, false},
		"no token":           {"", "example.com", chrome, here, noon, false},
		"a trap's token":     {Trap("/t/").Mint(k, "example.com", here, noon)[3:], "example.com", chrome, here, noon, false},
	} {
		if got := k.Pressed(tt.token, tt.site, tt.client, tt.ua, tt.at); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
