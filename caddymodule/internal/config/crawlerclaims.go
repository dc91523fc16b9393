package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/document"
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
