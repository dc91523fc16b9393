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

// Bounds of one check by DNS.
const (
	dnsTimeout     = 2 * time.Second
	maxNames       = 4   // of an address that are looked at
	maxNameOctets  = 255 // RFC 1035, section 2.3.4
	maxSuffixes    = 32  // of a crawler
	dnsConcurrency = 32  // checks at a time
)

// sharedSuffixes are domains whose hosts belong to customers of their operator: a name below them says nothing.
var sharedSuffixes = []string{"googleusercontent.com", "amazonaws.com", "cloudapp.azure.com", "in-addr.arpa", "ip6.arpa"}

// CheckSuffix returns what is wrong with a suffix of a crawler's host names, or
// nil.
func CheckSuffix(suffix string) error {
	s := normalName(suffix)
	switch {
	case s == "" || len(s) > maxNameOctets || strings.ContainsAny(s, "/:*@ \t"):
		return fmt.Errorf("%q is no domain: write it like googlebot.com", suffix)
	case !strings.Contains(s, "."):
		return fmt.Errorf("%q is a top-level domain: anybody can have a name in it", suffix)
	}
	for _, shared := range sharedSuffixes {
		if hasSuffix(s, []string{shared}) {
			return fmt.Errorf("host names in %s belong to anybody", shared)
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

// finding is what one check by DNS found.
type finding struct {
	answer answer
	names  []string // what reverse DNS said, at most maxNames
	via    string   // the name that led back
	err    error    // what made the check fail
}

// checkReverse does forward-confirmed reverse DNS. A no is only that the address has no name, or none but names of others: a name that
// has the suffix and does not lead back may be a mistake of its owner.
func checkReverse(ctx context.Context, resolver Resolver, addr netip.Addr, suffixes []string) finding {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	names, err := resolver.LookupAddr(ctx, addr.String())
	if len(names) == 0 {
		if isNotFound(err) {
			return finding{answer: no}
		}
		if err == nil {
			err = errors.New("the address has no name in DNS, but may have one")
		}
		return finding{answer: failed, err: err}
	}
	f := finding{answer: no}
	if len(names) > maxNames {
		names = names[:maxNames]
		f.answer, err = failed, fmt.Errorf("the address has more than %d names", maxNames)
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
		if err := leadsBack(ctx, resolver, host, addr); err != nil {
			f.answer, f.err = failed, err
			continue
		}
		return finding{answer: yes, names: names, via: host}
	}
	return f
}

// leadsBack reports whether host has the address addr. nil is yes.
func leadsBack(ctx context.Context, resolver Resolver, host string, addr netip.Addr) error {
	network := "ip6"
	if addr.Is4() {
		network = "ip4"
	}
	addrs, err := resolver.LookupNetIP(ctx, network, host+".")
	if err != nil {
		return fmt.Errorf("looking up %.260q: %w", host, err)
	}
	for _, a := range addrs {
		if a.Unmap().WithZone("") == addr {
			return nil
		}
	}
	return fmt.Errorf("%.260q does not lead back to %s", host, addr)
}

func isNotFound(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound && !e.IsTimeout && !e.IsTemporary
}
