package caddymodule

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Exemption is a crawler that robots.txt does not apply to. In JSON, a string is
// short for an object with this name and nothing else.
//
// Any client can send a crawler's name. Give the crawler's addresses in `from`,
// or set `verify`, so that impostors are not exempt.
type Exemption struct {
	// The name of the crawler in the registry, or one of its User-Agent tokens.
	Name string `json:"name"`

	// The client addresses that are exempt: IP addresses or CIDR ranges.
	// Default: all addresses.
	From []string `json:"from,omitempty"`
}

// UnmarshalJSON reads an object, or a string, which is the name.
func (e *Exemption) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &e.Name) == nil {
		return nil
	}
	type plain Exemption
	return json.Unmarshal(text, (*plain)(e))
}

// MarshalJSON writes an exemption without addresses as a string.
func (e Exemption) MarshalJSON() ([]byte, error) {
	if len(e.From) == 0 {
		return json.Marshal(e.Name)
	}
	type plain Exemption
	return json.Marshal(plain(e))
}

// compile converts the exemption to the engine's.
func (e *Exemption) compile() (enforce.Exemption, error) {
	x := enforce.Exemption{Name: e.Name}
	for _, text := range e.From {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			addr, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return x, fmt.Errorf("exempt %s: %q is neither an address nor a CIDR range such as 192.0.2.0/24", e.Name, text)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		x.From = append(x.From, prefix.Masked())
	}
	return x, nil
}

// exemptions converts all exemptions to the engine's.
func (s *Settings) exemptions() ([]enforce.Exemption, error) {
	var all []enforce.Exemption
	for i := range s.Exempt {
		x, err := s.Exempt[i].compile()
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// checkExempt returns an error for a name that no crawler has.
func checkExempt(exempt []Exemption, registry *crawler.Registry) error {
	for _, x := range exempt {
		if registry.Lookup(x.Name) == nil {
			return fmt.Errorf("exempt %q: no crawler has this name or token%s; add a crawler of your own with a crawler block", x.Name, nearestCrawler(x.Name, registry))
		}
	}
	return nil
}

// warnForgeableExemptions warns of exempt names that any client can send.
func (h *Handler) warnForgeableExemptions(current *running) {
	for _, x := range h.Exempt {
		row := current.Registry().Lookup(x.Name)
		if len(x.From) > 0 || row == nil || current.checker != nil && current.checker.Verifiable(row) {
			continue
		}
		h.log.Warn("every client that sends the name of this exempt crawler is exempt: give its addresses with from, or set verify if its operator documents a method",
			zap.String("crawler", x.Name))
	}
}

// parseExempt parses
//
//	exempt <crawlers...> [from <CIDR...>]
//
// An unknown name is an error here, unless a registry may add it, which is read
// only when the configuration is loaded.
func parseExempt(h *Handler, d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	names, from := args, []string(nil)
	if at := slices.Index(args, "from"); at >= 0 {
		if names, from = args[:at], args[at+1:]; len(from) == 0 {
			return d.Err("exempt: from needs at least one address or CIDR range")
		}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return d.Err("exempt needs at least one value: the name of a crawler")
	}
	var added []Exemption
	for _, name := range names {
		x := Exemption{Name: name, From: from}
		if _, err := x.compile(); err != nil {
			return d.WrapErr(err)
		}
		added = append(added, x)
	}
	h.Exempt = append(h.Exempt, added...)
	here := *d
	h.later = append(h.later, func() error {
		registry, complete := h.knownRegistry()
		if !complete {
			return nil
		}
		if err := checkExempt(added, registry); err != nil {
			return here.WrapErr(err)
		}
		return nil
	})
	return nil
}
