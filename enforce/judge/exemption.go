package judge

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Exemption exempts a crawler from robots.txt.
type Exemption struct {
	// Name is the crawler's name in the registry, or its token.
	Name string
	// From are the client addresses for which the exemption applies. If it is
	// empty, the exemption applies for all addresses.
	From []netip.Prefix
}

// IsExempt reports whether agent i is exempt from robots.txt. An impostor is
// not; an unverified crawler is, because its verification may still be under
// way.
func (c *Client) IsExempt(i int) bool {
	a, settings := &c.Agents()[i], c.rules.settings
	if c.claims[i].State == claim.Impostor {
		return false
	}
	if a.Crawler != nil {
		if x := settings.exempt[a.Crawler.Index()]; x != nil && x.includes(c) {
			return true
		}
	}
	for j := range settings.Exempt {
		if x := &settings.Exempt[j]; a.Reason != crawler.ControlToken && strings.EqualFold(x.Name, a.Token) && x.includes(c) {
			return true
		}
	}
	return false
}

// includes reports whether the exemption applies for the client's address.
func (x *Exemption) includes(c *Client) bool {
	if len(x.From) == 0 {
		return true
	}
	addr := c.addr.Unmap().WithZone("")
	return !c.request.Ambiguous && slices.ContainsFunc(x.From, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// or returns the exemption for the addresses of x and of y. x may be nil.
func (x *Exemption) or(y *Exemption) *Exemption {
	switch {
	case x == nil || len(y.From) == 0:
		return y
	case len(x.From) == 0:
		return x
	}
	return &Exemption{Name: x.Name, From: slices.Concat(x.From, y.From)}
}

// ExemptFrom returns the client addresses to which the exemption of an agent is
// limited, in the order of Settings.Exempt. It returns nil if there is no limit:
// the agent is exempt for all addresses, or it is not exempt. The reason of a
// Decision says which.
func (p *plans) ExemptFrom(a *crawler.Agent) (from []netip.Prefix) {
	for i := range p.settings.Exempt {
		x := &p.settings.Exempt[i]
		named := a.Crawler != nil && p.settings.Registry.Lookup(x.Name) == a.Crawler
		if !named && !strings.EqualFold(x.Name, a.Token) {
			continue
		}
		if len(x.From) == 0 {
			return nil
		}
		from = append(from, x.From...)
	}
	return from
}
