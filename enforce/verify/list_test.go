package verify

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// badLists are documents that must not replace the list in use, even with status 200.
var badLists = []struct{ name, body, err string }{
	{"empty", "", "no prefixes"},
	{"no prefixes", `{"creationTime":"2026-08-13","prefixes":[]}`, "no prefixes"},
	{"what Google sent at its old URL in 2026", `{"Action needed": "update the location you're fetching from to https://operator.test/new.json"}`, "no prefixes"},
	{"a web page", "<!DOCTYPE html><title>Not here</title>", "a web page"},
	{"JSON that is cut off", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}`, "parsing JSON"},
	{"a value that is not a prefix", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"all"}]}`, "is not a prefix"},
	{"an entry without a prefix", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"country":"US"}]}`, "has no prefix"},
	{"an error message as text", "Service unavailable, try again later", "is not a prefix"},
	{"the whole of IPv4", `{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}`, "private or reserved"},
	{"half of IPv4", `{"prefixes":[{"ipv4Prefix":"64.0.0.0/2"}]}`, "private or reserved"},
	{"too wide", `{"prefixes":[{"ipv4Prefix":"16.0.0.0/7"}]}`, "is too wide"},
	{"too wide in IPv6", `{"prefixes":[{"ipv6Prefix":"2001::/16"}]}`, "is too wide"},
	{"the whole of IPv6", `{"prefixes":[{"ipv6Prefix":"::/0"}]}`, "private or reserved"},
	{"the whole of IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:0:0/96"}]}`, "private or reserved"},
	{"wider than IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:0:0/90"}]}`, "is too wide"},
	{"private addresses", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"10.1.0.0/16"}]}`, "private or reserved"},
	{"private addresses in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:10.1.0.0/112"}]}`, "private or reserved"},
	{"shared addresses", `{"prefixes":[{"ipv4Prefix":"100.64.0.0/24"}]}`, "private or reserved"},
	{"unique local addresses", `{"prefixes":[{"ipv6Prefix":"fd00:1::/32"}]}`, "private or reserved"},
	{"89 prefixes of /8", manyWide(), "too many addresses"},
	{"more prefixes than allowed", `["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, maxPrefixes) + `]`, "more than 100000"},
}

// manyWide returns a list of 89 prefixes of /8.
func manyWide() string {
	var lines strings.Builder
	for i := 11; i < 100; i++ {
		fmt.Fprintf(&lines, "%d.0.0.0/8\n", i)
	}
	return lines.String()
}

func TestBadListsAreRefused(t *testing.T) {
	for _, tc := range badLists {
		if l, err := parseList([]byte(tc.body), "", nil); err == nil || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v %v, want an error with %q", tc.name, l, err, tc.err)
		}
	}
}

// A list with far fewer addresses than the list in use is refused. Joined prefixes have as many addresses as before.
func TestListsWithFarFewerAddressesAreRefused(t *testing.T) {
	lines := func(prefixes ...string) []byte { return []byte(strings.Join(prefixes, "\n")) }
	before, err := parseList(lines("192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26", "192.0.2.192/26", "192.0.3.0/26"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		body []byte
		ok   bool
	}{
		{lines("192.0.2.0/24", "192.0.3.0/26"), true},
		{lines("192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26"), true},
		{lines("192.0.2.0/26", "192.0.2.64/26"), false},
		{lines("198.51.100.0/26"), false},
	} {
		if _, err := parseList(tc.body, "", before); (err == nil) != tc.ok {
			t.Errorf("%q: %v, want accepted: %v", tc.body, err, tc.ok)
		}
	}
}

// All lists that operators published in 2026 can be parsed. What Google sent at its old URL is refused.
func TestPublishedLists(t *testing.T) {
	corpus := os.Getenv("ROBOTS_CORPUS")
	if corpus == "" {
		t.Log("ROBOTS_CORPUS is not set: the published lists are not tested")
		return
	}
	files, _ := filepath.Glob(filepath.Join(corpus, "ranges", "*.json"))
	read := 0
	for _, file := range files {
		if strings.Contains(file, "ipverse") {
			continue
		}
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseList(body, "", nil); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		read++
	}
	if read < 20 {
		t.Errorf("%d lists were found, want at least 20", read)
	}
	brownouts, _ := filepath.Glob(filepath.Join(corpus, "ranges", "brownout", "*"))
	if len(brownouts) == 0 {
		t.Error("no documents of the old URL were found")
	}
	for _, file := range brownouts {
		body, _ := os.ReadFile(file)
		if _, err := parseList(body, "", nil); err == nil {
			t.Errorf("%s was accepted", filepath.Base(file))
		}
	}
}

// FuzzList checks that prefixes are in normal form, and that no accepted list contains a special address.
func FuzzList(f *testing.F) {
	f.Add([]byte(goodList))
	f.Add([]byte("192.0.2.0/24\n"))
	f.Add([]byte("<pre>{\"prefixes\":[\"192.0.2.1\"]}</pre>"))
	for _, tc := range badLists[:17] {
		f.Add([]byte(tc.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		prefixes, err := readPrefixes(body, "")
		for _, p := range prefixes {
			if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() {
				t.Fatalf("%q: the prefix %v is not in normal form", body, p)
			}
		}
		l, listErr := parseList(body, "", nil)
		if err != nil && listErr == nil {
			t.Fatalf("%q: %v, but the list was accepted", body, err)
		}
		if listErr != nil {
			return
		}
		for _, addr := range []string{"0.0.0.0", "10.0.0.1", "127.0.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "::1", "fd00::1", "fe80::1"} {
			if l.contains(netip.MustParseAddr(addr)) {
				t.Fatalf("the list %q contains %s", body, addr)
			}
		}
		if !l.contains(prefixes[0].Addr()) {
			t.Fatalf("the list %q does not contain %s", body, prefixes[0])
		}
	})
}
