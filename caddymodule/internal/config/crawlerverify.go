package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

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

// validate returns an error for values that can't be used.
func (v *CrawlerVerify) validate() error {
	if v.None && len(v.Lists)+len(v.DNS)+len(v.Signatures) > 0 {
		return fmt.Errorf("verify none excludes all other methods: remove either")
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

// apply replaces the methods of row.
func (v *CrawlerVerify) apply(row *crawler.Crawler) {
	row.Verify = crawler.Verify{Ranges: v.Lists, Hosts: v.DNS, SignatureAgents: v.Signatures}
	row.Unverified = slices.DeleteFunc(slices.Clone(row.Unverified), func(fact string) bool {
		return fact == "verify" // the site's operator confirms it by writing it
	})
}

// verify parses
//
//	verify lists <urls...> | dns <suffixes...> | signatures <urls...> | none
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
	return v.validate()
}
