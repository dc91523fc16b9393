package verify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Resolver queries DNS. For a name that does not exist (NXDOMAIN), it returns a [*net.DNSError] with IsNotFound; for every other failure,
// it returns another error. Names are fully qualified. A [*net.Resolver] is a Resolver, but it reports a name without records of the wanted
// type like a name that does not exist. A Resolver must be safe for concurrent use.
type Resolver interface {
	// LookupAddr returns the names of addr in reverse DNS. addr is in text form.
	LookupAddr(ctx context.Context, addr string) ([]string, error)
	// LookupNetIP returns the addresses of host. network is ip4 or ip6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Limits of one query to a DNS server.
const (
	dnsAttempt   = 900 * time.Millisecond // timeout of each of two attempts over UDP
	maxCNAMEs    = 8
	maxDNSValues = 64   // records of an answer that are used
	dnsUDPSize   = 1232 // octets of a message over UDP
)

// errNoRecord is the error for a name that exists.
var errNoRecord = errors.New("the answer of the DNS server has no record of the requested type")

// serverResolver queries one DNS server, which must be a recursive resolver. It is safe for concurrent use.
type serverResolver struct{ address string }

// NewServerResolver returns a resolver that queries the server at address: an IP address, with or without a port. The default port is 53.
// For "", it returns nil, which stands for the system's resolver.
func NewServerResolver(address string) (Resolver, error) {
	if address == "" {
		return nil, nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
		return &serverResolver{net.JoinHostPort(addr.String(), "53")}, nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil || ap.Port() == 0 {
		return nil, fmt.Errorf("%q is not the address of a DNS server: write an IP address with or without a port, like "+
			"192.0.2.53 or 192.0.2.53:53", address)
	}
	return &serverResolver{ap.String()}, nil
}

// LookupAddr implements [Resolver].
func (s *serverResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	question, err := dns.ReverseAddr(addr)
	if err != nil {
		return nil, err
	}
	var names []string
	err = s.query(ctx, question, dns.TypePTR, func(rr dns.RR) {
		if ptr, ok := rr.(*dns.PTR); ok {
			names = append(names, ptr.Ptr)
		}
	})
	return names, err
}

// LookupNetIP implements [Resolver].
func (s *serverResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	kind := dns.TypeA
	if network == "ip6" {
		kind = dns.TypeAAAA
	}
	if _, ok := dns.IsDomainName(host); !ok {
		return nil, fmt.Errorf("%.300q is not a domain name", host)
	}
	var addrs []netip.Addr
	err := s.query(ctx, dns.Fqdn(host), kind, func(rr dns.RR) {
		var addr netip.Addr
		switch rr := rr.(type) {
		case *dns.A:
			addr, _ = netip.AddrFromSlice(rr.A)
		case *dns.AAAA:
			addr, _ = netip.AddrFromSlice(rr.AAAA)
		}
		if addr.IsValid() {
			addrs = append(addrs, addr.Unmap())
		}
	})
	return addrs, err
}

// query sends a query for records of one type (kind) and calls each for every record of the answer. It follows CNAME records.
func (s *serverResolver) query(ctx context.Context, question string, kind uint16, each func(dns.RR)) error {
	query := new(dns.Msg)
	query.SetQuestion(question, kind)
	query.SetEdns0(dnsUDPSize, false)
	answer, err := s.exchange(ctx, query)
	if err != nil {
		return err
	}
	if len(answer.Question) != 1 || !strings.EqualFold(answer.Question[0].Name, question) || answer.Question[0].Qtype != kind {
		return errors.New("the DNS server answered a different query")
	}
	switch answer.Rcode {
	case dns.RcodeSuccess:
	case dns.RcodeNameError:
		return &net.DNSError{Err: "no such host", Name: question, Server: s.address, IsNotFound: true}
	default:
		return fmt.Errorf("the DNS server answered %s", dns.RcodeToString[answer.Rcode])
	}
	owner := question
	for range maxCNAMEs {
		found, alias := 0, ""
		for _, rr := range answer.Answer {
			if !strings.EqualFold(rr.Header().Name, owner) {
				continue
			}
			if cname, ok := rr.(*dns.CNAME); ok {
				alias = cname.Target
			}
			if rr.Header().Rrtype == kind && found < maxDNSValues {
				found++
				each(rr)
			}
		}
		if found > 0 {
			return nil
		}
		if alias == "" {
			return errNoRecord
		}
		owner = alias
	}
	return fmt.Errorf("the answer of the DNS server has more than %d CNAME records in a row, or a loop of them", maxCNAMEs)
}

// exchange sends a query over UDP, up to two times. If the answer is truncated, it sends the query over TCP.
func (s *serverResolver) exchange(ctx context.Context, query *dns.Msg) (answer *dns.Msg, err error) {
	udp := dns.Client{Net: "udp", UDPSize: dnsUDPSize}
	for range 2 {
		attempt, cancel := context.WithTimeout(ctx, dnsAttempt)
		answer, _, err = udp.ExchangeContext(attempt, query, s.address)
		cancel()
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil || !answer.Truncated {
		return answer, err
	}
	tcp := dns.Client{Net: "tcp"}
	answer, _, err = tcp.ExchangeContext(ctx, query, s.address)
	return answer, err
}

// Limits of one check by DNS.
const (
	dnsTimeout     = 2 * time.Second
	maxNames       = 4   // of an address that are checked
	maxNameOctets  = 255 // RFC 1035, section 2.3.4
	maxSuffixes    = 32  // of a crawler
	dnsConcurrency = 32  // checks that run at the same time
)

// normalName returns a domain in lower case without the dots at its ends.
func normalName(domain string) string { return strings.ToLower(strings.Trim(domain, ".")) }

// hasSuffix reports whether host is one of suffixes or ends in a dot and one of them.
func hasSuffix(host string, suffixes []string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool {
		rest, ok := strings.CutSuffix(host, suffix)
		return ok && (rest == "" || rest[len(rest)-1] == '.')
	})
}

// finding is the result of one check by DNS.
type finding struct {
	answer        answer
	names         []string // the host names of the address, at most maxNames
	confirmedName string   // the host name that resolves to the address
	forgedName    string   // a host name with a suffix that resolves to other addresses only
	err           error    // why the check failed
}

// checkReverse does forward-confirmed reverse DNS. The answer is refuted only if the address has no host name, or only names outside
// suffixes or that resolve to other addresses only. If a name with a suffix does not resolve, the answer is failed: that may be a mistake
// of its owner.
func checkReverse(ctx context.Context, resolver Resolver, addr netip.Addr, suffixes []string) finding {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	names, err := resolver.LookupAddr(ctx, addr.String())
	if len(names) == 0 {
		if isNotFound(err) {
			return finding{answer: refuted}
		}
		if err == nil {
			err = errors.New("DNS returned neither a host name of the address nor an error")
		}
		return finding{answer: failed, err: err}
	}
	if len(names) > maxNames {
		names, err = names[:maxNames], fmt.Errorf("the address has more than %d host names", maxNames)
	}
	f := finding{answer: refuted, names: names}
	if err != nil {
		f.answer, f.err = failed, err
	}
	for _, host := range names {
		host = normalName(host)
		if len(host) > maxNameOctets || !hasSuffix(host, suffixes) {
			continue
		}
		switch leads, err := resolvesTo(ctx, resolver, host, addr); {
		case leads:
			return finding{answer: confirmed, names: names, confirmedName: host}
		case err != nil:
			f.answer, f.err = failed, err
		default:
			f.forgedName = host
		}
	}
	return f
}

// resolvesTo reports whether host resolves to addr. It returns an error if DNS does not tell: if it fails, has no address, returns so many
// that addr may be missing, or returns one that no crawler has, as a resolver that filters names or translates addresses (DNS64) does.
func resolvesTo(ctx context.Context, resolver Resolver, host string, addr netip.Addr) (bool, error) {
	network, other := "ip6", "ip4"
	if addr.Is4() {
		network, other = other, network
	}
	addrs, err := resolver.LookupNetIP(ctx, network, host+".")
	if isNotFound(err) || errors.Is(err, errNoRecord) { // maybe host has only addresses of the other kind
		addrs, err = resolver.LookupNetIP(ctx, other, host+".")
	}
	if err != nil {
		return false, fmt.Errorf("looking up %.260q: %w", host, err)
	}
	same := func(a netip.Addr) bool { return a.Unmap().WithZone("") == addr }
	unusable := func(a netip.Addr) bool { return netaddr.IsSpecial(a.Unmap().WithZone("")) }
	switch {
	case slices.ContainsFunc(addrs, same):
		return true, nil
	case len(addrs) == 0, len(addrs) >= maxDNSValues, slices.ContainsFunc(addrs, unusable):
		return false, fmt.Errorf("%.260q has %d addresses, or one that is not public", host, len(addrs))
	}
	return false, nil
}

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound && !e.IsTimeout && !e.IsTemporary
}
