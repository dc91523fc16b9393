package audit

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// nginxMain returns n lines of nginx's format main, by the client and X-Forwarded-For of each.
func nginxMain(n int, of func(i int) (client, forwarded string)) Options {
	var b strings.Builder
	for i := range n {
		client, forwarded := of(i)
		fmt.Fprintf(&b, "%s - - [07/Nov/2026:12:%02d:%02d +0000] \"GET /page/%d HTTP/1.1\" 200 512 \"-\" %q %q\n", client, i/60%60, i%60, i, chrome141, forwarded)
	}
	return Options{Files: []logfile.File{memory("access.log", []byte(b.String()))}, Sites: oneSite("User-agent: *\nDisallow:\n")}
}

// Behind a proxy, nginx's format main has the proxy first and the client last. The first finding says so.
func TestClientsBehindAProxy(t *testing.T) {
	visitor := func(i int) string { return fmt.Sprintf("203.0.113.%d", i%50) }
	for what, c := range map[string]struct {
		of      func(i int) (string, string)
		proxied bool
		clients int64 // with the proxies trusted
	}{
		"a private proxy":         {func(i int) (string, string) { return "10.0.0.5", visitor(i) }, true, 50},
		"a public proxy":          {func(i int) (string, string) { return "198.51.100.7", visitor(i) }, true, 50},
		"many proxies":            {func(i int) (string, string) { return fmt.Sprintf("10.0.%d.5", i%12), visitor(i) }, true, 50},
		"health checks too":       {func(i int) (string, string) { return "10.0.0.5", []string{visitor(i / 2), "-"}[i%2] }, true, 51},
		"two proxies":             {func(i int) (string, string) { return "10.0.0.5", visitor(i) + ", 10.0.0.9" }, true, 50},
		"spoofed lists":           {func(i int) (string, string) { return "10.0.0.5", fmt.Sprintf("8.8.%d.8, %s", i%250, visitor(i)) }, true, 50},
		"spoofed words":           {func(i int) (string, string) { return "10.0.0.5", "unknown, " + visitor(i) }, true, 50},
		"visitors of an intranet": {func(i int) (string, string) { return "10.0.0.5", fmt.Sprintf("10.1.1.%d", i%50) }, true, 50},
		"no proxy":                {func(i int) (string, string) { return visitor(i), "-" }, false, 50},
		"lists without a proxy":   {func(i int) (string, string) { return visitor(i), fmt.Sprintf("8.8.8.%d", i%50) }, false, 50},
		"one robot's lists": {func(i int) (string, string) {
			if i%3 == 0 {
				return "192.0.2.66", fmt.Sprintf("8.8.%d.8", i%250)
			}
			return visitor(i), "-"
		}, false, 51},
		"the server's address": {func(i int) (string, string) { return visitor(i), "10.0.0.5" }, false, 50},
	} {
		o := nginxMain(300, c.of)
		r := mustRun(t, o)
		if first := r.Findings[0]; (first.Code == "proxied") != c.proxied || c.proxied && !strings.Contains(first.Change, "--trusted-proxies") {
			t.Errorf("%s: the first finding is %+v", what, first)
		}
		o.IsProxy = func(addr netip.Addr) bool {
			return addr == netip.MustParseAddr("198.51.100.7") || netaddr.IsSpecial(addr)
		}
		r = mustRun(t, o)
		if findingOf(r, "proxied").Text != "" || r.Addresses != c.clients {
			t.Errorf("%s: with trusted proxies, %d clients, %+v", what, r.Addresses, r.Findings[0])
		}
	}
}

// The field is read where Caddy, nginx and Apache write it.
func TestForwardedClients(t *testing.T) {
	for what, line := range map[string]string{
		"Caddy":     `{"ts":1794052811.5,"logger":"http.log.access","request":{"remote_ip":"10.0.0.5","client_ip":"10.0.0.5","method":"GET","host":"a.test","uri":"/","headers":{"User-Agent":["x"],"X-Forwarded-For":["8.8.8.8, 203.0.113.9"]}},"status":200}`,
		"two lines": `{"ts":1794052811.5,"logger":"http.log.access","request":{"remote_ip":"10.0.0.5","client_ip":"10.0.0.5","method":"GET","host":"a.test","uri":"/","headers":{"User-Agent":["x"],"X-Forwarded-For":["8.8.8.8","203.0.113.9"]}},"status":200}`,
		"nginx":     `{"msec":1794052811.5,"remote_addr":"10.0.0.5","request":"GET / HTTP/1.1","status":200,"http_user_agent":"x","http_x_forwarded_for":"8.8.8.8, 203.0.113.9"}`,
		"durations": `10.0.0.5 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "x" "8.8.8.8, 203.0.113.9" "example.com" sn="s" rt=0.040`,
		"ports":     `10.0.0.5 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "x" 0.040 "[2001:db8::1]:443, 203.0.113.9:50000" "10.0.0.7:8080"`,
		"servers":   `10.0.0.5 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "x" 10.0.0.7 "203.0.113.9"`,
	} {
		o := Options{Files: []logfile.File{memory("access.log", []byte(line+"\n"))}, Full: true, IsProxy: netaddr.IsSpecial, Sites: oneSite("User-agent: *\nDisallow: /\n")}
		var client string
		err := Replay(t.Context(), o, 0, o.Sites, func(v *Judged) { client = v.Client }, func(*Page) {})
		if err != nil || client != "203.0.113.9" {
			t.Errorf("%s: %q, %v", what, client, err)
		}
	}
}
