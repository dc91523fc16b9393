package verify

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/miekg/dns"
)

// dnsServer starts a DNS server on loopback and returns a resolver that queries it. answers has a function for each name that fills in the reply.
// Names without a function do not exist.
func dnsServer(t testing.TB, answers map[string]func(*dns.Msg)) Resolver {
	t.Helper()
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, query *dns.Msg) {
		reply := new(dns.Msg)
		reply.SetReply(query)
		reply.RecursionAvailable = true
		answer := answers[strings.ToLower(query.Question[0].Name)]
		if answer == nil {
			reply.Rcode = dns.RcodeNameError
		} else {
			answer(reply)
		}
		if reply.Opcode == dns.OpcodeNotify { // set by never: send no reply
			return
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
			reply.Truncate(1232)
		}
		_ = w.WriteMsg(reply)
	})
	packets, listener := listenBoth(t)
	for _, s := range []*dns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		done := make(chan struct{})
		go func() { defer close(done); _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown(); <-done })
	}
	resolver, err := NewServerResolver(packets.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	return resolver
}

// listenBoth listens on one port over UDP and TCP, like a DNS server. The port
// that the system chose for UDP may be in use over TCP; then it tries another.
func listenBoth(t testing.TB) (net.PacketConn, net.Listener) {
	t.Helper()
	var err error
	for range 100 {
		var packets net.PacketConn
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			break
		}
		var listener net.Listener
		if listener, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, listener
		}
		packets.Close()
	}
	t.Fatal(err)
	return nil, nil
}

// records fills in resource records, which are in text form.
func records(texts ...string) func(*dns.Msg) {
	return func(m *dns.Msg) {
		for _, text := range texts {
			rr, err := dns.NewRR(text)
			if err != nil {
				panic(err)
			}
			m.Answer = append(m.Answer, rr)
		}
	}
}

// only fills in resource records if they are of the type that is asked for.
func only(kind uint16, texts ...string) func(*dns.Msg) {
	return func(m *dns.Msg) {
		if m.Question[0].Qtype == kind {
			records(texts...)(m)
		}
	}
}

// rcode fills in a response code.
func rcode(code int) func(*dns.Msg) { return func(m *dns.Msg) { m.Rcode = code } }

// never makes the server send no reply.
func never(m *dns.Msg) { m.Opcode = dns.OpcodeNotify }

const (
	crawlerAddr = "192.0.2.9"
	crawlerPTR  = "9.2.0.192.in-addr.arpa."
)

// An address is refuted only if it has no host name, or only names outside the suffixes or that have other addresses only.
func TestCheckReverseAnswers(t *testing.T) {
	longName := strings.Repeat(strings.Repeat("a", 61)+".", 3) + strings.Repeat("b", 55) + ".crawl.test." // 255 octets on the wire
	thousand := func(m *dns.Msg) {
		for i := range 1000 {
			records(crawlerPTR + " PTR h" + string(rune('a'+i%26)) + strings.Repeat("x", i%40) + ".other.test.")(m)
		}
	}
	for name, tc := range map[string]struct {
		answers map[string]func(*dns.Msg)
		want    answer
	}{
		"a name that resolves to the address": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": records("9.crawl.test. A 192.0.2.9")}, confirmed},
		"a name in upper case": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.CRAWL.Test."), "9.crawl.test.": records("9.CRAWL.test. A 192.0.2.9")}, confirmed},
		"the suffix itself": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR crawl.test."), "crawl.test.": records("crawl.test. A 192.0.2.9")}, confirmed},
		"a name after one outside the suffixes": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR+" PTR x.other.test.", crawlerPTR+" PTR 9.crawl.test."), "9.crawl.test.": records("9.crawl.test. A 192.0.2.9")}, confirmed},
		"a name with several addresses": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": records("9.crawl.test. A 192.0.2.1", "9.crawl.test. A 192.0.2.9")}, confirmed},
		"CNAME records, RFC 2317": {map[string]func(*dns.Msg){
			crawlerPTR:      records(crawlerPTR+" CNAME 9.0-63.2.0.192.in-addr.arpa.", "9.0-63.2.0.192.in-addr.arpa. PTR 9.crawl.test."),
			"9.crawl.test.": records("9.crawl.test. CNAME nine.crawl.test.", "nine.crawl.test. A 192.0.2.9")}, confirmed},
		"no name":                     {nil, refuted},
		"a name outside the suffixes": {map[string]func(*dns.Msg){crawlerPTR: records(crawlerPTR + " PTR host.other.test.")}, refuted},
		"a suffix that begins inside a label": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR evilcrawl.test."), "evilcrawl.test.": records("evilcrawl.test. A 192.0.2.9")}, refuted},
		"a suffix in the middle of a name": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test.evil.example."), "9.crawl.test.evil.example.": records("9.crawl.test.evil.example. A 192.0.2.9")}, refuted},
		"a name that resolves to another address": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 1.crawl.test."), "1.crawl.test.": records("1.crawl.test. A 192.0.2.1")}, refuted},
		"a name that resolves to several other addresses": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 1.crawl.test."), "1.crawl.test.": records("1.crawl.test. A 192.0.2.1", "1.crawl.test. A 192.0.2.2")}, refuted},
		"a name with an IPv6 address only": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 1.crawl.test."), "1.crawl.test.": only(dns.TypeAAAA, "1.crawl.test. AAAA 2001:db8::9")}, refuted},
		"a name with an IPv6 address, and a failure for IPv4": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 1.crawl.test."), "1.crawl.test.": func(m *dns.Msg) {
				if m.Question[0].Qtype == dns.TypeA {
					m.Rcode = dns.RcodeServerFailure
				} else {
					records("1.crawl.test. AAAA 2001:db8::9")(m)
				}
			}}, failed},
		"two names, both resolve to another address": {map[string]func(*dns.Msg){
			crawlerPTR:      records(crawlerPTR+" PTR 1.crawl.test.", crawlerPTR+" PTR 2.crawl.test."),
			"1.crawl.test.": records("1.crawl.test. A 192.0.2.1"), "2.crawl.test.": records("2.crawl.test. A 192.0.2.2")}, refuted},
		"a name that resolves to another address, then one that resolves to this": {map[string]func(*dns.Msg){
			crawlerPTR:      records(crawlerPTR+" PTR 1.crawl.test.", crawlerPTR+" PTR 9.crawl.test."),
			"1.crawl.test.": records("1.crawl.test. A 192.0.2.1"), "9.crawl.test.": records("9.crawl.test. A 192.0.2.9")}, confirmed},
		"a name that resolves to another address, and one that does not exist": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR+" PTR 1.crawl.test.", crawlerPTR+" PTR 9.crawl.test."), "1.crawl.test.": records("1.crawl.test. A 192.0.2.1")}, failed},
		"a name that a filter resolves to nothing": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": records("9.crawl.test. A 0.0.0.0")}, failed},
		"a name with more addresses than are read": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": func(m *dns.Msg) {
				for i := range 100 {
					records(fmt.Sprintf("9.crawl.test. A 192.0.3.%d", i))(m)
				}
			}}, failed},
		"a name that resolves to another address, and one outside the suffixes that resolves to this": {map[string]func(*dns.Msg){
			crawlerPTR:      records(crawlerPTR+" PTR 1.crawl.test.", crawlerPTR+" PTR x.other.test."),
			"1.crawl.test.": records("1.crawl.test. A 192.0.2.1"), "x.other.test.": records("x.other.test. A 192.0.2.9")}, refuted},
		"a name that does not exist": {map[string]func(*dns.Msg){crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test.")}, failed},
		"a name without an address": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": records()}, failed},
		"a name whose server fails": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR 9.crawl.test."), "9.crawl.test.": rcode(dns.RcodeServerFailure)}, failed},
		"no record":   {map[string]func(*dns.Msg){crawlerPTR: records()}, failed},
		"SERVFAIL":    {map[string]func(*dns.Msg){crawlerPTR: rcode(dns.RcodeServerFailure)}, failed},
		"REFUSED":     {map[string]func(*dns.Msg){crawlerPTR: rcode(dns.RcodeRefused)}, failed},
		"no answer":   {map[string]func(*dns.Msg){crawlerPTR: never}, failed},
		"1,000 names": {map[string]func(*dns.Msg){crawlerPTR: thousand}, failed},
		"a name of 255 octets": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR + " PTR " + longName), longName: records(longName + " A 192.0.2.9")}, confirmed},
		"an answer to another query": {map[string]func(*dns.Msg){
			crawlerPTR: func(m *dns.Msg) { m.Question[0].Name = "8.2.0.192.in-addr.arpa."; m.Rcode = dns.RcodeNameError }}, failed},
		"a loop of CNAME records": {map[string]func(*dns.Msg){
			crawlerPTR: records(crawlerPTR+" CNAME a.test.", "a.test. CNAME "+crawlerPTR)}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolver := dnsServer(t, tc.answers)
			f := checkReverse(context.Background(), resolver, netip.MustParseAddr(crawlerAddr), []string{"crawl.test"})
			if f.answer != tc.want {
				t.Errorf("answer %d (names %v, error %v), want %d", f.answer, f.names, f.err, tc.want)
			}
			if (f.answer == failed) != (f.err != nil) {
				t.Errorf("answer %d with error %v", f.answer, f.err)
			}
		})
	}
}

// IPv6 addresses are compared as addresses, not as text. A name with IPv4 addresses only does not belong to
// one. What a resolver with DNS64 makes of such a name says nothing about the client's address.
func TestCheckReverseIPv6(t *testing.T) {
	ptr, _ := dns.ReverseAddr("2001:db8::9")
	for _, tt := range []struct {
		forward           func(*dns.Msg)
		want              answer
		confirmed, forged string
	}{
		{records("9.crawl.test. AAAA 2001:0db8:0:0:0:0:0:0009"), confirmed, "9.crawl.test", ""},
		{only(dns.TypeA, "9.crawl.test. A 192.0.2.9"), refuted, "", "9.crawl.test"},
		{records("9.crawl.test. AAAA 64:ff9b::192.0.2.9"), failed, "", ""},
	} {
		resolver := dnsServer(t, map[string]func(*dns.Msg){ptr: records(ptr + " PTR 9.crawl.test."), "9.crawl.test.": tt.forward})
		f := checkReverse(context.Background(), resolver, netip.MustParseAddr("2001:db8::9"), []string{"crawl.test"})
		if f.answer != tt.want || f.confirmedName != tt.confirmed || f.forgedName != tt.forged {
			t.Errorf("%+v, want %d", f, tt.want)
		}
	}
}

// A lookup fails when its context ends, even if the server never answers.
func TestCheckReverseEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	resolver := dnsServer(t, map[string]func(*dns.Msg){crawlerPTR: never})
	if f := checkReverse(ctx, resolver, netip.MustParseAddr(crawlerAddr), []string{"crawl.test"}); f.answer != failed {
		t.Errorf("%+v", f)
	}
}

func TestServerAddress(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.53": "10.0.0.53:53", "10.0.0.53:5353": "10.0.0.53:5353", "2001:db8::53": "[2001:db8::53]:53", "[2001:db8::53]": "[2001:db8::53]:53",
		"[2001:db8::53]:5353": "[2001:db8::53]:5353", "dns.test": "", "10.0.0.53:0": "", "10.0.0.53:x": "",
	} {
		if got, err := serverAddress(address); (err == nil) != (want != "") || got != want {
			t.Errorf("%q: %q, %v, want %q", address, got, err, want)
		}
	}
	if r, err := NewServerResolver(""); r != net.DefaultResolver || err != nil {
		t.Errorf("without an address: %v, %v", r, err)
	}
}
