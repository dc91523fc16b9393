package suspect

import (
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	here = netip.MustParseAddr("192.0.2.7")
)

func TestTrapHit(t *testing.T) {
	t.Parallel()
	k, trap := testKey(t, 1), Trap("/calendar-all/")
	u := trap.Mint(k, "example.com", here, noon)
	if !strings.HasPrefix(u, "/calendar-all/") || len(u) != len("/calendar-all/")+tokenLen || tokenLen != base64.RawURLEncoding.EncodedLen(tokenSize) {
		t.Fatalf("minted %s", u)
	}
	flipped := []byte(u)
	flipped[len(u)-5] ^= 1
	there := netip.MustParseAddr("192.0.2.8")
	six, sixToo := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff")
	for name, tt := range map[string]struct {
		target, site string
		key          *Key
		client       netip.Addr
		at           time.Time
		want         Hit
	}{
		"the same client":      {u, "example.com", k, here, noon, MintedHit},
		"with a query":         {u + "?utm_source=x", "example.com", k, here, noon, MintedHit},
		"mapped to IPv6":       {u, "example.com", k, netip.MustParseAddr("::ffff:192.0.2.7"), noon, MintedHit},
		"after 24 hours":       {u, "example.com", k, here, noon.Add(24 * time.Hour), MintedHit},
		"after it expired":     {u, "example.com", k, here, noon.Add(24*time.Hour + time.Second), NoHit},
		"another, expired":     {u, "example.com", k, there, noon.Add(25 * time.Hour), NoHit},
		"minted in the future": {u, "example.com", k, here, noon.Add(-time.Hour), NoHit},
		"another client":       {u, "example.com", k, there, noon, OtherHit},
		"of the same /64":      {trap.Mint(k, "example.com", six, noon), "example.com", k, sixToo, noon, MintedHit},
		"another site":         {u, "example.org", k, here, noon, StaticHit},
		"another key":          {u, "example.com", testKey(t, 2), here, noon, StaticHit},
		"a wrong octet":        {string(flipped), "example.com", k, here, noon, StaticHit},
		"a file below it":      {u + "/x", "example.com", k, here, noon, StaticHit},
		"not minted":           {"/calendar-all/2026", "example.com", k, here, noon, StaticHit},
		"the folder itself":    {"/calendar-all/", "example.com", k, here, noon, StaticHit},
		"without the slash":    {"/calendar-all", "example.com", k, here, noon, NoHit},
		"another folder":       {"/calendar/x", "example.com", k, here, noon, NoHit},
	} {
		if got := trap.Hit(tt.key, tt.target, tt.site, tt.client, tt.at); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	if a, b := trap.Mint(k, "example.com", here, noon), trap.Mint(k, "example.com", there, noon); a == b {
		t.Error("two addresses get the same URL")
	}
}

func TestParseTrap(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"/calendar-all/*", "/calendar-all/", "/a/b.c/~d/*", "/x/*"} {
		if got, err := ParseTrap(s); err != nil || string(got) != strings.TrimSuffix(s, "*") {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "/", "/*", "*", "x/", "/x", "/x*", "/x/*/y/*", "/x/**", "//x/", "/x//y/", "/a b/", "/a\n/", "/ä/", "/x?/", "/x%20/", "/{x}/", "/x$/", "/.well-known/x/", "/" + strings.Repeat("x", 256) + "/"} {
		if got, err := ParseTrap(s); err == nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}

// A URL that was not minted is at most a StaticHit, and each minted URL has only one
// spelling.
func FuzzTrapHit(f *testing.F) {
	k, trap := testKey(f, 1), Trap("/calendar-all/")
	minted := trap.Mint(k, "example.com", here, noon)
	f.Add(minted, uint32(0))
	token := strings.Repeat("A", tokenLen)
	f.Add("/calendar-all/"+token, uint32(1))
	f.Add("/calendar-all/"+token[1:]+"=", uint32(1))
	f.Add("/calendar-all/"+minted[len("/calendar-all/"):][:10]+"\n"+minted[len("/calendar-all/")+10:], uint32(1))
	f.Fuzz(func(t *testing.T, target string, client uint32) {
		addr := netip.AddrFrom4([4]byte{byte(client), byte(client >> 8), byte(client >> 16), byte(client >> 24)})
		got := trap.Hit(k, target, "example.com", addr, noon)
		path, _, _ := strings.Cut(target, "?")
		switch {
		case !strings.HasPrefix(target, string(trap)) && got != NoHit:
			t.Errorf("%q is not below the trap and is a hit", target)
		case got == MintedHit && path != minted && path != trap.Mint(k, "example.com", addr, noon):
			// It may have been minted at another time: then it has a whole token.
			token, err := base64.RawURLEncoding.DecodeString(path[len(trap):])
			if err != nil || len(token) != tokenSize {
				t.Errorf("%q was not minted", target)
			}
		case got == OtherHit && path != minted:
			t.Errorf("%q was not minted and counts as another client's", target)
		}
	})
}
