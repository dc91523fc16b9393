package verify

import (
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
