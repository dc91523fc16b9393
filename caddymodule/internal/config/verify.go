package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/document"
)

// ImpostorsIgnore is the value of Verify.Impostors that is not the default.
const ImpostorsIgnore = "ignore"

var impostorActions = lines.Choices{"deny", ImpostorsIgnore}

// Verify checks whether a client is the crawler that its User-Agent names: any
// client can send any name.
//
// It uses the methods that the crawler's operator documents. No request waits for a
// check, so the first ones of a crawler may be unverified. Behind a proxy or CDN, set
// Caddy's `trusted_proxies`: otherwise all clients have the proxy's address, and no claim
// can be checked.
type Verify struct {
	// `deny`: impostors get 403 for everything except /robots.txt and exempt paths.
	// `ignore`: they get the rules of the crawler that they name, and share a budget of
	// their own. Default: `deny`.
	Impostors string `json:"impostors,omitempty"`

	// The DNS server for reverse DNS: an IP address, with or without a port. Default:
	// the system's resolver.
	Resolver string `json:"resolver,omitempty"`

	// Whether published lists of addresses are used. They are fetched every 6 hours, and
	// the last good copies are kept in Caddy's storage. Default: true.
	Lists *bool `json:"lists,omitempty"`

	// Whether forward-confirmed reverse DNS is used. Default: true.
	DNS *bool `json:"dns,omitempty"`

	// Whether signatures of requests (Web Bot Auth, RFC 9421) are used. A signature never
	// refutes a claim. Default: true.
	Signatures *bool `json:"signatures,omitempty"`
}

// check returns an error for values that can't be used. A nil v has none.
func (v *Verify) check() error {
	if v == nil {
		return nil
	}
	if !hasPlaceholder(v.Resolver) {
		if _, err := v.Config(); err != nil {
			return err
		}
	}
	return impostorActions.Check("verify impostors", v.Impostors)
}

// Config converts the settings to the verifier's.
func (v *Verify) Config() (verify.Config, error) {
	on := func(b *bool) bool { return b == nil || *b }
	c := verify.Config{Lists: on(v.Lists), DNS: on(v.DNS), Signatures: on(v.Signatures)}
	address, err := Resolve("verify resolver", v.Resolver)
	if err != nil || address == "" {
		return c, err
	}
	c.Resolver, err = verify.NewServerResolver(address)
	return c, InOption("verify resolver", err)
}

// verify parses the block verify.
func (p *parser) verify(_ string, args []string) error {
	if len(args) > 0 && slices.Contains([]string{"on", "true", "yes"}, args[0]) {
		return fmt.Errorf("verify %s: write verify alone, which switches it on", args[0])
	}
	if err := lines.OnlyBlock("verify", args, ""); err != nil {
		return err
	}
	v := new(Verify)
	p.settings.Verify = v
	return p.Block(lines.Table{
		"impostors":  lines.Choice(&v.Impostors, impostorActions),
		"resolver":   p.names("verify resolver", lines.Text(&v.Resolver)),
		"lists":      lines.OnOff(&v.Lists),
		"dns":        lines.OnOff(&v.DNS),
		"signatures": lines.OnOff(&v.Signatures),
	}, v.check)
}

// CrawlerVerify lists the methods that can check whether a client is a certain
// crawler. It replaces all methods of that crawler in the registry.
type CrawlerVerify struct {
	// URLs of the lists of addresses of the crawler's operator: https, or http
	// on a loopback address.
	Lists []string `json:"lists,omitempty"`

	// The domains of the crawler's host names in reverse DNS, such as
	// `googlebot.com`. Subdomains match too.
	DNS []string `json:"dns,omitempty"`

	// URLs of the directories with the keys that the crawler signs its requests
	// with, or the values of the Signature-Agent field that it sends.
	Signatures []string `json:"signatures,omitempty"`

	// Whether the crawler has no method at all, so that its claims are never
	// checked. Not allowed with another field. Default: false.
	None bool `json:"none,omitempty"`
}

// check returns an error for values that can't be used. A nil v has none.
func (v *CrawlerVerify) check() error {
	if v == nil {
		return nil
	}
	if v.None && len(v.Lists)+len(v.DNS)+len(v.Signatures) > 0 {
		return fmt.Errorf("verify none excludes all other methods: remove either")
	}
	var err error
	for _, u := range slices.Concat(v.Lists, v.Signatures) {
		_, wrong := document.ParseOpenURL(u)
		err = cmp.Or(err, lines.About("verify:", wrong))
	}
	for _, suffix := range v.DNS {
		err = cmp.Or(err, lines.About("verify dns:", crawler.CheckSuffix(suffix)))
	}
	return err
}

// verify parses the line verify.
func (c *Crawler) verify(_ string, args []string) error {
	if len(args) == 0 {
		return errors.New("verify: want lists, dns, signatures or none")
	}
	if c.Verify == nil {
		c.Verify = new(CrawlerVerify)
	}
	v := c.Verify
	lists := map[string]*[]string{"lists": &v.Lists, "dns": &v.DNS, "signatures": &v.Signatures}
	switch method, values := args[0], args[1:]; {
	case method == "none" && len(values) > 0:
		return errors.New("verify none takes no value")
	case method == "none":
		v.None = true
	case lists[method] == nil:
		return fmt.Errorf("verify %q: want lists, dns, signatures or none", method)
	case len(values) == 0:
		return fmt.Errorf("verify %s needs at least one value", method)
	default:
		*lists[method] = append(*lists[method], values...)
	}
	return v.check()
}
