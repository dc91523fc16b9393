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
)

// Limits of one check by DNS.
const (
	dnsTimeout     = 2 * time.Second
	maxNames       = 4   // of an address that are checked
	maxNameOctets  = 255 // RFC 1035, section 2.3.4
	maxSuffixes    = 32  // of a crawler
	dnsConcurrency = 32  // checks that run at the same time
)

// sharedSuffixes are domains in which anybody can have a host, such as the
// customers of a cloud provider.
var sharedSuffixes = []string{"googleusercontent.com", "amazonaws.com", "cloudapp.azure.com", "in-addr.arpa", "ip6.arpa"}

// CheckSuffix returns an error if suffix is not valid as a suffix of a crawler's
// host names. It must be a domain like googlebot.com, but not a top-level domain
// or a domain such as amazonaws.com, in which any customer can have a host. A dot
// at its beginning or end is allowed.
func CheckSuffix(suffix string) error {
	s := normalName(suffix)
	switch {
	case s == "" || len(s) > maxNameOctets || strings.ContainsAny(s, "/:*@ \t"):
		return fmt.Errorf("%q is not a domain: write one like googlebot.com", suffix)
	case !strings.Contains(s, "."):
		return fmt.Errorf("%q is a top-level domain, in which anybody can have a host name: write a domain like googlebot.com", suffix)
	}
	for _, shared := range sharedSuffixes {
		if hasSuffix(s, []string{shared}) {
			return fmt.Errorf("%q: anybody can have a host name under %s", suffix, shared)
		}
	}
	return nil
}

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

// checkReverse does forward-confirmed reverse DNS. The answer is refuted only if the address has no host name, or only names outside suffixes or
// that resolve to other addresses only. If a name with a suffix does not resolve, the answer is failed: that may be a mistake of its owner.
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
	f := finding{answer: refuted}
	if len(names) > maxNames {
		names = names[:maxNames]
		f.answer, err = failed, fmt.Errorf("the address has more than %d host names", maxNames)
	}
	if err != nil {
		f.answer, f.err = failed, err
	}
	f.names = names
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

// resolvesTo reports whether host resolves to addr. It returns an error if DNS does not tell: if it fails, has no address, returns so many that
// addr may be missing, or returns one that no crawler has, as a resolver that filters names or translates addresses (DNS64) does.
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
	unusable := func(a netip.Addr) bool { return IsSpecial(a.Unmap().WithZone("")) }
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
