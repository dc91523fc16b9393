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

	row *crawler.Crawler // with that name; nil if there is none
}

// IsExempt reports whether agent i is exempt from robots.txt. An impostor is
// not; an unverified crawler is, because its verification may still be under
// way.
func (c *Client) IsExempt(i int) bool {
	a, settings := &c.Agents()[i], c.rules.settings
	if c.claims[i].State == claim.Impostor {
		return false
	}
	for j := range settings.Exempt {
		if x := &settings.Exempt[j]; x.names(a) && x.includes(c) {
			return true
		}
	}
	return false
}

// names reports whether the exemption is for an agent.
func (x *Exemption) names(a *crawler.Agent) bool {
	return x.row != nil && x.row == a.Crawler || a.Reason != crawler.ControlToken && strings.EqualFold(x.Name, a.Token)
}

// includes reports whether the exemption applies for the client's address.
func (x *Exemption) includes(c *Client) bool {
	if len(x.From) == 0 {
		return true
	}
	addr := c.addr.Unmap().WithZone("")
	return !c.request.Ambiguous && slices.ContainsFunc(x.From, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// ExemptFrom returns the client addresses to which the exemption of an agent is
// limited, in the order of Settings.Exempt. It returns nil if there is no limit:
// the agent is exempt for all addresses, or it is not exempt. The reason of a
// Decision says which.
func (p *plans) ExemptFrom(a *crawler.Agent) (from []netip.Prefix) {
	for i := range p.settings.Exempt {
		x := &p.settings.Exempt[i]
		switch {
		case !x.names(a):
		case len(x.From) == 0:
			return nil
		default:
			from = append(from, x.From...)
		}
	}
	return from
}
