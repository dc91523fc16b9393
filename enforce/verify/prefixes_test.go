package verify

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReadPrefixes(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"the shape of most operators", goodList, "192.0.2.0/24 2001:db8:1::/48"},
		{"creationTime with zone", `{"creationTime":"2026-08-13T20:38:01Z","prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`, "192.0.2.0/24"},
		{"creationTime that is no time", `{"creationTime":7,"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`, "192.0.2.0/24"},
		{"both families in one entry", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24","ipv6Prefix":"2001:db8::/48"}]}`, "192.0.2.0/24 2001:db8::/48"},
		{"addresses, as Ahrefs has them", `{"ips":[{"ip_address":"192.0.2.1"},{"ip_address":"192.0.2.2"}]}`, "192.0.2.1/32 192.0.2.2/32"},
		{"strings", `["192.0.2.0/24","2001:db8::1"]`, "192.0.2.0/24 2001:db8::1/128"},
		{"bits behind the prefix", `{"prefixes":[{"ipv4Prefix":"192.0.2.77/24"}]}`, "192.0.2.0/24"},
		{"IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:192.0.2.0/120"}]}`, "192.0.2.0/24"},
		{"a byte order mark", "\ufeff" + goodList, "192.0.2.0/24 2001:db8:1::/48"},
		{"lines", "# crawlers\r\n192.0.2.0/24\r\n\r\n192.0.3.1 # new\n", "192.0.2.0/24 192.0.3.1/32"},
		{"a geofeed, RFC 8805", "192.0.2.0/24,US,US-CA,Menlo Park,\n2001:db8::/40,IE,,,\n", "192.0.2.0/24 2001:db8::/40"},
		{"JSON in a page, as Amazon has it", "<!doctype html><p>Addresses</p><pre><code>{\n &quot;creationTime&quot;: &quot;2026-04-30&quot;, <b>\"prefixes\"</b>: [{\"ip_prefix\": \"192.0.2.1/32\"}, {\"ip_prefix\": \"192.0.2.2\"}]}</code></pre>", "192.0.2.1/32 192.0.2.2/32"},
	} {
		prefixes, err := readPrefixes([]byte(tc.body))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		texts := make([]string, len(prefixes))
		for i, p := range prefixes {
			texts[i] = p.String()
		}
		if got := strings.Join(texts, " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// Each of these, sent with status 200, must leave the list in use as it is.
var badLists = []struct{ name, body, err string }{
	{"empty", "", "no prefixes"},
	{"no prefixes", `{"creationTime":"2026-08-13","prefixes":[]}`, "no prefixes"},
	{"Google's old address in 2026", `{"Action needed": "update the location you're fetching from to https://operator.test/new.json"}`, "no prefixes"},
	{"a page", "<!DOCTYPE html><title>Not here</title>", "a web page"},
	{"JSON that breaks off", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}`, "reading JSON"},
	{"a value that is no prefix", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"all"}]}`, "is no prefix"},
	{"an entry without a prefix", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"country":"US"}]}`, "has no prefix"},
	{"an error in words", "Service unavailable, try again later", "is no prefix"},
	{"the whole of IPv4", `{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}`, "private or reserved"},
	{"half of IPv4", `{"prefixes":[{"ipv4Prefix":"64.0.0.0/2"}]}`, "private or reserved"},
	{"too wide", `{"prefixes":[{"ipv4Prefix":"16.0.0.0/7"}]}`, "far too wide"},
	{"too wide in IPv6", `{"prefixes":[{"ipv6Prefix":"2001::/16"}]}`, "far too wide"},
	{"the whole of IPv6", `{"prefixes":[{"ipv6Prefix":"::/0"}]}`, "private or reserved"},
	{"the whole of IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:0:0/96"}]}`, "private or reserved"},
	{"wider than IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:0:0/90"}]}`, "far too wide"},
	{"private addresses", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"10.1.0.0/16"}]}`, "private or reserved"},
	{"private addresses in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:10.1.0.0/112"}]}`, "private or reserved"},
	{"shared addresses", `{"prefixes":[{"ipv4Prefix":"100.64.0.0/24"}]}`, "private or reserved"},
	{"unique local addresses", `{"prefixes":[{"ipv6Prefix":"fd00:1::/32"}]}`, "private or reserved"},
	{"most of IPv4 in small pieces", manyWide(), "far too many addresses"},
	{"more prefixes than anybody has", `["192.0.2.1"` + strings.Repeat(`,"192.0.2.1"`, maxPrefixes) + `]`, "more than 100000"},
}

func manyWide() string {
	var lines strings.Builder
	for i := 11; i < 100; i++ {
		fmt.Fprintf(&lines, "%d.0.0.0/8\n", i)
	}
	return lines.String()
}

func TestBadListsAreRefused(t *testing.T) {
	for _, tc := range badLists {
		if l, err := parseList(&response{body: []byte(tc.body)}, nil, time.Time{}); err == nil || !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %v %v, want an error with %q", tc.name, l, err, tc.err)
		}
	}
}

// A list that holds far fewer addresses than before is a mistake of its operator, unless prefixes were only joined.
func TestFarFewerPrefixes(t *testing.T) {
	lines := func(prefixes ...string) *response { return &response{body: []byte(strings.Join(prefixes, "\n"))} }
	before, err := parseList(lines("192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26", "192.0.2.192/26", "192.0.3.0/26"), nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		body *response
		ok   bool
	}{
		{lines("192.0.2.0/24", "192.0.3.0/26"), true},
		{lines("192.0.2.0/26", "192.0.2.64/26", "192.0.2.128/26"), true},
		{lines("192.0.2.0/26", "192.0.2.64/26"), false},
		{lines("198.51.100.0/26"), false},
	} {
		if _, err := parseList(tc.body, before, time.Time{}); (err == nil) != tc.ok {
			t.Errorf("%q: %v, want accepted: %v", tc.body.body, err, tc.ok)
		}
	}
}

// The documents that operators published in 2026 are all read; those of Google's old address are refused.
func TestPublishedLists(t *testing.T) {
	corpus := os.Getenv("ROBOTS_CORPUS")
	if corpus == "" {
		t.Log("ROBOTS_CORPUS is not set: only the examples above were read")
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
		if _, err := parseList(&response{body: body}, nil, time.Time{}); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		read++
	}
	if read < 20 {
		t.Errorf("only %d lists were found", read)
	}
	brownouts, _ := filepath.Glob(filepath.Join(corpus, "ranges", "brownout", "*"))
	if len(brownouts) == 0 {
		t.Error("no brownouts were found")
	}
	for _, file := range brownouts {
		body, _ := os.ReadFile(file)
		if _, err := parseList(&response{body: body}, nil, time.Time{}); err == nil {
			t.Errorf("%s was accepted", filepath.Base(file))
		}
	}
}

// Whatever a list says, no address that a client in a private network has is in it, and prefixes are in normal form.
func FuzzList(f *testing.F) {
	f.Add([]byte(goodList))
	f.Add([]byte("192.0.2.0/24\n"))
	f.Add([]byte("<pre>{\"prefixes\":[\"192.0.2.1\"]}</pre>"))
	for _, tc := range badLists[:17] {
		f.Add([]byte(tc.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		prefixes, err := readPrefixes(body)
		for _, p := range prefixes {
			if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() {
				t.Fatalf("%q gave %v", body, p)
			}
		}
		l, listErr := parseList(&response{body: body}, nil, time.Time{})
		if err != nil && listErr == nil {
			t.Fatalf("%q: %v, but the list was accepted", body, err)
		}
		if listErr != nil {
			return
		}
		for _, addr := range []string{"0.0.0.0", "10.0.0.1", "127.0.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254", "::1", "fd00::1", "fe80::1"} {
			if l.contains(netip.MustParseAddr(addr)) {
				t.Fatalf("%q has %s", body, addr)
			}
		}
		if !l.contains(prefixes[0].Addr()) {
			t.Fatalf("%q lacks %s", body, prefixes[0])
		}
	})
}
