package verify_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// zone is a resolver with one host of a crawler.
type zone struct{}

func (zone) LookupAddr(_ context.Context, addr string) ([]string, error) {
	if addr == "66.249.66.1" {
		return []string{"crawl-66-249-66-1.googlebot.com."}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
}

func (zone) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "crawl-66-249-66-1.googlebot.com." {
		return []netip.Addr{netip.MustParseAddr("66.249.66.1")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// Explain queries DNS at once and returns the steps that led to the result.
func Example() {
	verifier := verify.New(verify.Config{DNS: true, Resolver: zone{}})
	defer verifier.Close()
	registry := crawler.Builtin()
	checker, err := verifier.Bind(registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer checker.Close()
	for _, addr := range []string{"66.249.66.1", "192.0.2.1"} {
		e := checker.Explain(context.Background(), registry.Lookup("Googlebot"), netip.MustParseAddr(addr))
		fmt.Println(addr, e.State)
	}
	// Output:
	// 66.249.66.1 verified
	// 192.0.2.1 unverified
}
