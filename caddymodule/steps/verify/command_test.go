package verify_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
	"github.com/caddy-robots/caddy-robots/internal/test/commandline"
)

// nameServer answers for one address, on loopback.
func nameServer(t *testing.T) string {
	t.Helper()
	records := map[string]string{
		"5.113.0.203.in-addr.arpa.": "5.113.0.203.in-addr.arpa. PTR 5.crawl.test.",
		"5.crawl.test.":             "5.crawl.test. A 203.0.113.5",
		"6.113.0.203.in-addr.arpa.": "",
		"7.113.0.203.in-addr.arpa.": "7.113.0.203.in-addr.arpa. PTR 5.crawl.test.",
	}
	started := make(chan struct{})
	srv := &dns.Server{Addr: "127.0.0.1:0", Net: "udp", NotifyStartedFunc: func() { close(started) }}
	srv.Handler = dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		reply := new(dns.Msg)
		reply.SetReply(query)
		switch text, ok := records[query.Question[0].Name]; {
		case !ok:
			reply.Rcode = dns.RcodeNameError
		case text == "":
			reply.Rcode = dns.RcodeServerFailure
		default:
			rr, err := dns.NewRR(text)
			if err != nil {
				t.Error(err)
			}
			reply.Answer = append(reply.Answer, rr)
		}
		_ = w.WriteMsg(reply)
	})
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.ListenAndServe() }()
	<-started
	t.Cleanup(func() { _ = srv.Shutdown(); <-done })
	return srv.PacketConn.LocalAddr().String()
}

func TestVerifyCommand(t *testing.T) {
	lists := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/list.json" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`)
	}))
	defer lists.Close()
	registry := filepath.Join(t.TempDir(), "crawlers.jsonl")
	rows := fmt.Sprintf(`{"name":"TestCrawler","verify":{"ranges":["%[1]s/list.json"],"hosts":["crawl.test"]}}
{"name":"GoneCrawler","verify":{"ranges":["%[1]s/gone.json"]}}
{"name":"SigningCrawler","verify":{"signature_agents":["%[1]s/keys"]}}
{"name":"PlainCrawler"}
`, lists.URL)
	if err := os.WriteFile(registry, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	resolver := nameServer(t)
	for _, tc := range []struct {
		agent, addr string
		status      int
		want        []string
	}{
		{"TestCrawler", "192.0.2.9", 0, []string{"verified   192.0.2.9 TestCrawler  by list", "list.json", "verified: the address is in the list (1 prefix, read 0s ago)"}},
		{"Mozilla/5.0 (compatible; TestCrawler/1.0)", "203.0.113.5", 0, []string{"by dns", "verified: host name 5.crawl.test, which resolves to the address"}},
		{"testcrawler", "198.51.100.1", 2, []string{"impostor   198.51.100.1", "impostor: the address is not in the list", "impostor: the address has no host name"}},
		{"TestCrawler", "203.0.113.7", 2, []string{"impostor   203.0.113.7", "host name 5.crawl.test.; 5.crawl.test has other addresses only"}},
		{"SigningCrawler", "192.0.2.9", 2, []string{"unverified 192.0.2.9 SigningCrawler  signature_missing", "the directory can't be read: status 404"}},
		{"TestCrawler", "203.0.113.6", 2, []string{"unverified 203.0.113.6 TestCrawler  lookup_failed", "server misbehaving"}},
		{"TestCrawler", "10.0.0.1", 2, []string{"unverified 10.0.0.1 TestCrawler  address_special"}},
		{"GoneCrawler", "192.0.2.9", 2, []string{"unverified 192.0.2.9 GoneCrawler  list_missing", "can't be read: status 404"}},
		{"PlainCrawler", "192.0.2.9", 2, []string{"none       192.0.2.9 PlainCrawler  its operator documents no method to verify it"}},
	} {
		status, out, errs := commandline.Run("", "verify", "--registry", registry, "--resolver", resolver, "--agent", tc.agent, tc.addr)
		if status != tc.status || errs != "" {
			t.Errorf("%s from %s: status %d, want %d; %s", tc.agent, tc.addr, status, tc.status, errs)
		}
		for _, want := range tc.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s from %s: no %q in\n%s", tc.agent, tc.addr, want, out)
			}
		}
	}

	status, out, _ := commandline.Run("", "verify", "--registry", registry, "--resolver", resolver, "--agent", "TestCrawler", "--json", "192.0.2.9", "198.51.100.1")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if status != 2 || len(lines) != 2 {
		t.Fatalf("status %d\n%s", status, out)
	}
	var v struct {
		Address, Crawler, State, Method string
		Steps                           []struct{ Method, Asked, Answer, Says string }
	}
	if err := json.Unmarshal([]byte(lines[0]), &v); err != nil || v.State != "verified" || v.Method != "list" || len(v.Steps) != 2 {
		t.Errorf("%v: %s", err, lines[0])
	}
}

// A crawler of the site's configuration is known.
func TestVerifyCommandWithConfig(t *testing.T) {
	config := filepath.Join(t.TempDir(), "Caddyfile")
	text := "example.com {\n\trobots {\n\t\tcrawler OurBot {\n\t\t\tverify dns crawl.test\n\t\t}\n\t}\n}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	resolver := nameServer(t)
	for args, want := range map[string]string{
		"verify --agent OurBot --resolver " + resolver + " --config " + config + " 203.0.113.5":                 "verified   203.0.113.5 OurBot  by dns",
		"verify --agent OurBot --resolver " + resolver + " 203.0.113.5":                                         "names no crawler of the registry",
		"verify --agent OurBot --config " + config + " --site other.test 203.0.113.5":                           "has no site other.test",
		"verify --agent OurBot --config " + config + " --registry ../../../testdata/crawlers.jsonl 203.0.113.5": "--registry can't be used with --config",
	} {
		if _, out, errs := commandline.Run("", strings.Fields(args)...); !strings.Contains(out+errs, want) {
			t.Errorf("%s: no %q in\n%s%s", args, want, out, errs)
		}
	}
}

func TestVerifyCommandErrors(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--agent", "Googlebot", "not-an-address"}, `"not-an-address" is not an IP address`},
		{[]string{"--agent", "Mozilla/5.0 Firefox/140.0", "192.0.2.1"}, "names no crawler of the registry"},
		{[]string{"--agent", "Googlebot", "--resolver", "dns.test", "192.0.2.1"}, "is not the address of a DNS server"},
	} {
		status, _, errs := commandline.Run("", append([]string{"verify"}, tc.args...)...)
		if status != 1 || !strings.Contains(errs, tc.want) {
			t.Errorf("%v: status %d, %q, want %q", tc.args, status, errs, tc.want)
		}
	}
}
