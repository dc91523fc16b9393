package caddymodule

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// The values of Verify.Impostors.
const (
	impostorsDeny   = "deny"
	impostorsIgnore = "ignore"
)

// Verify checks the claims of crawlers. A User-Agent is a claim that any client
// can send. It is checked with published lists of addresses, reverse DNS and
// signatures of requests, as far as the crawler's operator documents them. No
// request waits for a check: lists and directories of keys are read, and DNS is
// asked, in the background.
//
// A verified crawler has its own budget of Crawl-delay and Request-rate;
// unverified claims use other budgets. A client is called an impostor only if
// some crawler was verified by its address at the same host in the last 24
// hours, which shows that the server sees the real addresses of clients: behind
// a proxy or CDN set `trusted_proxies`.
type Verify struct {
	// The treatment of clients whose claim every documented method refutes:
	// `deny` answers 403 to all their requests except those for /robots.txt;
	// `ignore` treats them as unverified crawlers with a separate budget.
	// Default: `deny`.
	Impostors string `json:"impostors,omitempty"`

	// The DNS server to ask: an IP address, with or without a port.
	// Placeholders that are known when the configuration is loaded are
	// replaced. Default: the system's resolver.
	Resolver string `json:"resolver,omitempty"`

	// Use the lists of addresses that operators publish. They are read every
	// six hours and kept in Caddy's storage. Default: true.
	Lists *bool `json:"lists,omitempty"`

	// Use forward-confirmed reverse DNS. Default: true.
	DNS *bool `json:"dns,omitempty"`

	// Use signatures of requests (Web Bot Auth, RFC 9421). Default: true.
	Signatures *bool `json:"signatures,omitempty"`
}

func (v *Verify) validate() error {
	if err := oneOf("verify impostors", v.Impostors, "", impostorsDeny, impostorsIgnore); err != nil {
		return err
	}
	if v.Resolver != "" && !strings.Contains(v.Resolver, "{") { // not a placeholder
		if _, err := verify.NewServerResolver(v.Resolver); err != nil {
			return fmt.Errorf("verify resolver: %w", err)
		}
	}
	return nil
}

// config is the part that a verifier is made of. Equal ones share one.
func (v *Verify) config() (verify.Config, error) {
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

// parseVerify parses
//
//	verify {
//		impostors  deny | ignore
//		resolver   <address>
//		lists      [on|off]
//		dns        [on|off]
//		signatures [on|off]
//	}
func parseVerify(h *Handler, d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("verify: unexpected %q: it takes its options in a block", d.Val())
	}
	if h.Verify != nil {
		return d.Err("verify stands here a second time")
	}
	v := new(Verify)
	h.Verify = v
	return parseBlock(h, d, map[string]subdirective{
		"impostors":  choice(func(*Handler) *string { return &v.Impostors }, impostorsDeny, impostorsIgnore),
		"resolver":   then(text(func(*Handler) *string { return &v.Resolver }), v.validate),
		"lists":      onOffField(func(*Handler) **bool { return &v.Lists }),
		"dns":        onOffField(func(*Handler) **bool { return &v.DNS }),
		"signatures": onOffField(func(*Handler) **bool { return &v.Signatures }),
	})
}

// CrawlerVerify says how claims to be a crawler can be checked. It replaces
// what the registry says.
type CrawlerVerify struct {
	// URLs of published lists of addresses: https, or http on a loopback
	// address.
	Lists []string `json:"lists,omitempty"`

	// Domains that its names in reverse DNS are in, such as googlebot.com.
	DNS []string `json:"dns,omitempty"`

	// Where its keys are: the Signature-Agent that it sends, or the URL of the
	// directory.
	Signatures []string `json:"signatures,omitempty"`

	// Claims to be this crawler can't be checked.
	None bool `json:"none,omitempty"`
}

// validate reports what can't be used.
func (v *CrawlerVerify) validate() error {
	if v.None && len(v.Lists)+len(v.DNS)+len(v.Signatures) > 0 {
		return fmt.Errorf("verify none goes with no other method")
	}
	for _, urls := range [][]string{v.Lists, v.Signatures} {
		for _, u := range urls {
			if err := verify.CheckURL(u); err != nil {
				return fmt.Errorf("verify: %w", err)
			}
		}
	}
	for _, suffix := range v.DNS {
		if err := verify.CheckSuffix(suffix); err != nil {
			return fmt.Errorf("verify dns: %w", err)
		}
	}
	return nil
}

// apply replaces what row has.
func (v *CrawlerVerify) apply(row *crawler.Crawler) {
	row.Verify = crawler.Verify{Ranges: v.Lists, Hosts: v.DNS, SignatureAgents: v.Signatures}
	var unverified []string
	for _, fact := range row.Unverified {
		if fact != "verify" { // the operator of the site vouches for it
			unverified = append(unverified, fact)
		}
	}
	row.Unverified = unverified
}

// parseCrawlerVerify parses
//
//	verify lists <urls...> | dns <suffixes...> | signatures <urls...> | none
func parseCrawlerVerify(c *Crawler) subdirective {
	return func(_ *Handler, d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.Err("verify: want lists, dns, signatures or none")
		}
		if c.Verify == nil {
			c.Verify = new(CrawlerVerify)
		}
		v := c.Verify
		switch method, values := args[0], args[1:]; {
		case method == "none" && len(values) == 0:
			v.None = true
		case method == "none":
			return d.Errf("verify none takes no value")
		case method != "lists" && method != "dns" && method != "signatures":
			return d.Errf("verify %q: want lists, dns, signatures or none", method)
		case len(values) == 0:
			return d.Errf("verify %s needs at least one value", method)
		case method == "lists":
			v.Lists = append(v.Lists, values...)
		case method == "dns":
			v.DNS = append(v.DNS, values...)
		default:
			v.Signatures = append(v.Signatures, values...)
		}
		if err := v.validate(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}
}
