package suspect

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func testKey(t testing.TB, fill byte) *Key {
	t.Helper()
	k, err := NewKey(bytes.Repeat([]byte{fill}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var (
	noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	here = netip.MustParseAddr("192.0.2.7")
)

func TestTrapURLs(t *testing.T) {
	t.Parallel()
	k, trap := testKey(t, 1), Trap("/calendar-all/")
	u := trap.Mint(k, "example.com", here, noon)
	if !strings.HasPrefix(u, "/calendar-all/") || len(u) != len("/calendar-all/")+tokenLen || len(t0) != tokenLen {
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
		"its own":              {u, "example.com", k, here, noon, MintedHit},
		"with a query":         {u + "?utm_source=x", "example.com", k, here, noon, MintedHit},
		"mapped to IPv6":       {u, "example.com", k, netip.MustParseAddr("::ffff:192.0.2.7"), noon, MintedHit},
		"after 24 hours":       {u, "example.com", k, here, noon.Add(24 * time.Hour), MintedHit},
		"later":                {u, "example.com", k, here, noon.Add(24*time.Hour + time.Second), NoHit},
		"another's, later":     {u, "example.com", k, there, noon.Add(25 * time.Hour), NoHit},
		"minted in the future": {u, "example.com", k, here, noon.Add(-time.Hour), NoHit},
		"another's":            {u, "example.com", k, there, noon, OtherHit},
		"of the same /64":      {trap.Mint(k, "example.com", six, noon), "example.com", k, sixToo, noon, MintedHit},
		"another site":         {u, "example.org", k, here, noon, StaticHit},
		"another key":          {u, "example.com", testKey(t, 2), here, noon, StaticHit},
		"a wrong octet":        {string(flipped), "example.com", k, here, noon, StaticHit},
		"a file below it":      {u + "/x", "example.com", k, here, noon, StaticHit},
		"static":               {"/calendar-all/2026", "example.com", k, here, noon, StaticHit},
		"the folder":           {"/calendar-all/", "example.com", k, here, noon, StaticHit},
		"beside it":            {"/calendar-all", "example.com", k, here, noon, NoHit},
		"elsewhere":            {"/calendar/x", "example.com", k, here, noon, NoHit},
	} {
		if got := trap.Hit(tt.key, tt.target, tt.site, tt.client, tt.at); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	if a, b := trap.Mint(k, "example.com", here, noon), trap.Mint(k, "example.com", there, noon); a == b {
		t.Error("two addresses have the same URL")
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

// The signature is HMAC-SHA-256 over the parts, each of which changes it.
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
		t.Errorf("%d different signatures of 6", len(seen))
	}
	if _, err := NewKey(secret[1:]); err == nil {
		t.Error("a short key is accepted")
	}
}

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
		"its own":            {token, "example.com", chrome, here, noon, true},
		"59 minutes later":   {token, "example.com", chrome, here, noon.Add(59 * time.Minute), true},
		"two hours later":    {token, "example.com", chrome, here, noon.Add(2 * time.Hour), false},
		"another address":    {token, "example.com", chrome, netip.MustParseAddr("192.0.2.8"), noon, false},
		"another User-Agent": {token, "example.com", mozilla, here, noon, false},
		"another site":       {token, "example.org", chrome, here, noon, false},
		"none":               {"", "example.com", chrome, here, noon, false},
		"a trap's":           {Trap("/t/").Mint(k, "example.com", here, noon)[3:], "example.com", chrome, here, noon, false},
	} {
		if got := k.Pressed(tt.token, tt.site, tt.client, tt.ua, tt.at); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What no key has minted is a static hit at most, and there is one form only of
// each URL.
func FuzzTrapHit(f *testing.F) {
	k, trap := testKey(f, 1), Trap("/calendar-all/")
	minted := trap.Mint(k, "example.com", here, noon)
	f.Add(minted, uint32(0))
	f.Add("/calendar-all/"+t0, uint32(1))
	f.Add("/calendar-all/"+t0[1:]+"=", uint32(1))
	f.Add("/calendar-all/"+minted[len("/calendar-all/"):][:10]+"\n"+minted[len("/calendar-all/")+10:], uint32(1))
	f.Fuzz(func(t *testing.T, target string, client uint32) {
		addr := netip.AddrFrom4([4]byte{byte(client), byte(client >> 8), byte(client >> 16), byte(client >> 24)})
		got := trap.Hit(k, target, "example.com", addr, noon)
		path, _, _ := strings.Cut(target, "?")
		switch {
		case !strings.HasPrefix(target, string(trap)) && got != NoHit:
			t.Errorf("%q is a hit", target)
		case got == MintedHit && path != minted && path != trap.Mint(k, "example.com", addr, noon):
			// Minted at another time: the token has to be what signing gives.
			token, err := base64.RawURLEncoding.DecodeString(path[len(trap):])
			if err != nil || len(token) != tokenSize {
				t.Errorf("%q was not minted", target)
			}
		case got == OtherHit && path != minted:
			t.Errorf("%q was minted for nobody", target)
		}
	})
}
