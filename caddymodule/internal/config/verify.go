package config

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// ImpostorsIgnore is the value of Verify.Impostors that is not the default.
const ImpostorsIgnore = "ignore"

var impostorActions = choices{"deny", ImpostorsIgnore}

// Verify checks whether a client is the crawler that its User-Agent names: any
// client can send any name. It uses the methods that the crawler's operator
// documents: published lists of addresses, reverse DNS, and signed requests. No
// request waits for a check, because lists, keys and DNS are read in the
// background. So the first requests of a crawler may be unverified.
//
// A verified crawler has a budget of its own for Crawl-delay and Request-rate;
// unverified clients can't use it up. A client is an impostor if every list of
// addresses that is documented, and reverse DNS if it is documented, refute its
// claim. A signature never refutes a claim. Behind a proxy or CDN, set
// `trusted_proxies`, so that Caddy sees the addresses of clients. As a
// protection against a wrong setup, nobody is an impostor at a host until some
// crawler was verified there by its address in the last 24 hours.
type Verify struct {
	// What happens to impostors. `deny`: they get 403 for everything except
	// /robots.txt and exempt paths. `ignore`: they are treated as unverified
	// crawlers, with a separate budget. Default: `deny`.
	Impostors string `json:"impostors,omitempty"`

	// The DNS server for reverse DNS: an IP address, with or without a port.
	// Placeholders that are known when the configuration is loaded are
	// replaced. Default: the system's resolver.
	Resolver string `json:"resolver,omitempty"`

	// Whether lists of addresses that crawlers' operators publish are used.
	// They are read every 6 hours, and the last good copies are kept in Caddy's
	// storage. Default: true.
	Lists *bool `json:"lists,omitempty"`

	// Whether forward-confirmed reverse DNS is used. Default: true.
	DNS *bool `json:"dns,omitempty"`

	// Whether signatures of requests (Web Bot Auth, RFC 9421) are used. Default:
	// true.
	Signatures *bool `json:"signatures,omitempty"`
}

func (v *Verify) validate() error {
	if err := impostorActions.check("verify impostors", v.Impostors); err != nil {
		return err
	}
	if v.Resolver != "" && !hasPlaceholder(v.Resolver) {
		if _, err := verify.NewServerResolver(v.Resolver); err != nil {
			return fmt.Errorf("verify resolver: %w", err)
		}
	}
	return nil
}

// Config converts the settings to the verifier's.
func (v *Verify) Config() (verify.Config, error) {
	on := func(b *bool) bool { return b == nil || *b }
	c := verify.Config{Lists: on(v.Lists), DNS: on(v.DNS), Signatures: on(v.Signatures)}
	if address := caddy.NewReplacer().ReplaceAll(v.Resolver, ""); address != "" {
		resolver, err := verify.NewServerResolver(address)
		if err != nil {
			return c, fmt.Errorf("verify resolver: %w", err)
		}
		c.Resolver = resolver
	}
	return c, nil
}

// verify parses
//
//	verify {
//		impostors  deny | ignore
//		resolver   <address>
//		lists      [on|off]
//		dns        [on|off]
//		signatures [on|off]
//	}
func (p *parser) verify(_ string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("verify: unexpected %q: it takes its options in a block", args[0])
	}
	v := new(Verify)
	p.settings.Verify = v
	return p.block(table{
		"impostors":  choice(&v.Impostors, impostorActions),
		"resolver":   text(&v.Resolver, nil),
		"lists":      onOff(&v.Lists),
		"dns":        onOff(&v.DNS),
		"signatures": onOff(&v.Signatures),
	}, v.validate)
}
