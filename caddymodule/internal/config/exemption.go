package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce"
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

// exempt parses
//
//	exempt <crawlers...> [from <CIDR...>]
//
// An unknown name is an error here, unless a registry may add it, which is read
// only when the configuration is loaded.
func (p *parser) exempt(_ string, args []string) error {
	names, from := args, []string(nil)
	if at := slices.Index(args, "from"); at >= 0 {
		if names, from = args[:at], args[at+1:]; len(from) == 0 {
			return errors.New("exempt: from needs at least one address or CIDR range")
		}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return errors.New("exempt needs at least one value: the name of a crawler")
	}
	var added []Exemption
	for _, name := range names {
		x := Exemption{Name: name, From: from}
		if _, err := x.compile(); err != nil {
			return err
		}
		added = append(added, x)
	}
	p.settings.Exempt = append(p.settings.Exempt, added...)
	here := *p.Dispenser
	p.later = append(p.later, func() error {
		registry, complete := p.knownRegistry()
		if !complete {
			return nil
		}
		return place(&here, CheckExempt(added, registry))
	})
	return nil
}
