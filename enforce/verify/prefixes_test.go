package verify

import (
	"net/netip"
	"strings"
	"testing"
)

func TestReadPrefixes(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"the format of most operators", goodList, "192.0.2.0/24 2001:db8:1::/48"},
		{"creationTime with a time zone", `{"creationTime":"2026-08-13T20:38:01Z","prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`, "192.0.2.0/24"},
		{"creationTime that is a number", `{"creationTime":7,"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`, "192.0.2.0/24"},
		{"both families in one entry", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24","ipv6Prefix":"2001:db8::/48"}]}`, "192.0.2.0/24 2001:db8::/48"},
		{"addresses in the format of Ahrefs", `{"ips":[{"ip_address":"192.0.2.1"},{"ip_address":"192.0.2.2"}]}`, "192.0.2.1/32 192.0.2.2/32"},
		{"an array of strings", `["192.0.2.0/24","2001:db8::1"]`, "192.0.2.0/24 2001:db8::1/128"},
		{"bits after the prefix that are not zero", `{"prefixes":[{"ipv4Prefix":"192.0.2.77/24"}]}`, "192.0.2.0/24"},
		{"IPv4 in IPv6 form", `{"prefixes":[{"ipv6Prefix":"::ffff:192.0.2.0/120"}]}`, "192.0.2.0/24"},
		{"a byte order mark", "\ufeff" + goodList, "192.0.2.0/24 2001:db8:1::/48"},
		{"lines", "# crawlers\r\n192.0.2.0/24\r\n\r\n192.0.3.1 # new\n", "192.0.2.0/24 192.0.3.1/32"},
		{"a geofeed, RFC 8805", "192.0.2.0/24,US,US-CA,Menlo Park,\n2001:db8::/40,IE,,,\n", "192.0.2.0/24 2001:db8::/40"},
		{"JSON in a web page, as Amazon publishes it", "<!doctype html><p>Addresses</p><pre><code>{\n &quot;creationTime&quot;: &quot;2026-04-30&quot;, <b>\"prefixes\"</b>: [{\"ip_prefix\": \"192.0.2.1/32\"}, {\"ip_prefix\": \"192.0.2.2\"}]}</code></pre>", "192.0.2.1/32 192.0.2.2/32"},
		{"lines in a web page, as Kagi publishes them", "<html><body><p>The requests come from:<br><code>\n192.0.2.4 amd.kagibot.example <br/>\n192.0.2.76 donna.kagibot.example<br/>\n</code><p>Your address is\n198.51.100.7\n198.51.100.8 now\n", "192.0.2.4/32 192.0.2.76/32"},
	} {
		prefixes, err := readPrefixes([]byte(tc.body), "")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := joined(prefixes); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func joined(prefixes []netip.Prefix) string {
	texts := make([]string, len(prefixes))
	for i, p := range prefixes {
		texts[i] = p.String()
	}
	return strings.Join(texts, " ")
}

// A document can have the addresses of several services. The fragment of its
// URL names the part that counts.
func TestPartOfADocument(t *testing.T) {
	github := `{"verifiable_password_authentication":false,"ssh_keys":["ssh-ed25519 AAAA"],"hooks":["192.0.2.0/24","2001:db8::/48"],"actions":["198.51.100.0/24"],"domains":{"website":["*.github.com"]}}`
	for _, tc := range []struct{ name, body, part, want, err string }{
		{"an array, as GitHub publishes its webhooks", github, "hooks", "192.0.2.0/24 2001:db8::/48", ""},
		{"an object with arrays, as Datadog publishes its tests", `{"version":3,"synthetics":{"prefixes_ipv4":["192.0.2.1/32"],"prefixes_ipv6":[],"prefixes_ipv4_by_location":{"aws:x":["198.51.100.1/32"]}}}`, "synthetics", "192.0.2.1/32", ""},
		{"all members, as New Relic publishes its locations", `{"Dublin, IE":["192.0.2.0/24"],"Columbus, OH, USA":["198.51.100.0/24","203.0.113.7"]}`, "*", "198.51.100.0/24 203.0.113.7/32 192.0.2.0/24", ""},
		{"all members, one of another kind", github, "*", "", "is not a prefix"},
		{"a part that is gone", github, "webhooks", "", `no member "webhooks"`},
		{"a part that is empty", `{"hooks":[]}`, "hooks", "", "no prefixes"},
		{"a part of another type", `{"hooks":7}`, "hooks", "", "JSON"},
		{"without a part", github, "", "", "no prefixes"},
	} {
		prefixes, err := readPrefixes([]byte(tc.body), tc.part)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.err)
			}
			continue
		}
		if got := joined(prefixes); err != nil || got != tc.want {
			t.Errorf("%s: %s, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}
