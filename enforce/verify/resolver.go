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

// Resolver queries DNS, as [net.Resolver] does. For a name that does not exist (NXDOMAIN), it returns a [*net.DNSError] with IsNotFound; for
// every other failure, it returns another error. Names are fully qualified. A Resolver must be safe for concurrent use.
type Resolver interface {
	// LookupAddr returns the names of addr in reverse DNS. addr is in text form. The system's resolver reports an address whose name in
	// reverse DNS exists and has no PTR record like one whose name does not exist.
	LookupAddr(ctx context.Context, addr string) ([]string, error)
	// LookupNetIP returns the addresses of host. network is ip4 or ip6.
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// NewServerResolver returns a resolver that queries the recursive DNS server at address: an IP address, with or without a port. The default
// port is 53. For "", it returns the system's resolver.
func NewServerResolver(address string) (Resolver, error) {
	if address == "" {
		return net.DefaultResolver, nil
	}
	server, err := serverAddress(address)
	if err != nil {
		return nil, err
	}
	s := &serverResolver{address: server}
	s.PreferGo = true
	s.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}
	return s, nil
}

// serverResolver queries one DNS server.
type serverResolver struct {
	net.Resolver
	address string
}

// LookupAddr implements [Resolver]. If there is no PTR record, it asks once more whether the name exists: a [net.Resolver] does not tell.
func (s *serverResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	names, err := s.Resolver.LookupAddr(ctx, addr)
	if !isNotFound(err) {
		return names, err
	}
	name, asked := dns.ReverseAddr(addr)
	if asked != nil {
		return nil, asked
	}
	answer, asked := dns.ExchangeContext(ctx, new(dns.Msg).SetQuestion(name, dns.TypePTR), s.address)
	switch {
	case asked != nil:
		return nil, asked
	case answer.Rcode != dns.RcodeNameError:
		return nil, fmt.Errorf("%s has no PTR record", name)
	}
	return nil, err
}

// serverAddress returns the address of a DNS server with its port.
func serverAddress(address string) (string, error) {
	if addr, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil {
		return net.JoinHostPort(addr.String(), "53"), nil
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil || ap.Port() == 0 {
		return "", fmt.Errorf("%q is not the address of a DNS server: write an IP address with or without a port, like "+
			"192.0.2.53 or 192.0.2.53:53", address)
	}
	return ap.String(), nil
}

// Limits of one check by DNS.
const (
	dnsTimeout     = 2 * time.Second
	maxNames       = 4   // of an address that are checked
	maxNameOctets  = 255 // RFC 1035, section 2.3.4
	maxAddrs       = 64  // of a name; one with more may have others
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
	if isNotFound(err) { // maybe host has only addresses of the other kind
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
	case len(addrs) == 0, len(addrs) >= maxAddrs, slices.ContainsFunc(addrs, unusable):
		return false, fmt.Errorf("%.260q has %d addresses, or one that is not public", host, len(addrs))
	}
	return false, nil
}

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound && !e.IsTimeout && !e.IsTemporary
}
