package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Exemption is a crawler that is never refused. In JSON, a string is short for an
// object with this name and nothing else.
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

// exemptions converts exemptions to the engine's.
func exemptions(list []Exemption) (all []judge.Exemption, err error) {
	for _, e := range list {
		x := judge.Exemption{Name: e.Name}
		for _, text := range e.From {
			prefix, err := caddyhttp.CIDRExpressionToPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("exempt %s: %q is neither an address nor a CIDR range such as 192.0.2.0/24", e.Name, text)
			}
			x.From = append(x.From, prefix.Masked())
		}
		all = append(all, x)
	}
	return all, nil
}

// exempt parses the line exempt.
func (p *parser) exempt(name string, values []string) error {
	names, from := values, []string(nil)
	if at := slices.Index(values, "from"); at >= 0 {
		names, from = values[:at], values[at+1:]
		if len(from) == 0 {
			return errors.New("exempt: from needs at least one address or CIDR range")
		}
	}
	for _, name := range names {
		p.head("exempt " + name)
		p.settings.Exempt = append(p.settings.Exempt, Exemption{Name: name, From: from})
	}
	return lines.List(&names)(name, names)
}

// checkExempt returns an error for a name that no crawler of the registry has,
// and that is not the name of a probe.
func checkExempt(exempt []Exemption, registry *crawler.Registry) error {
	for _, x := range exempt {
		var id crawler.Identity
		registry.Matcher(nil).Identify(x.Name, &id)
		isProbe := id.Class() == crawler.Probe && strings.EqualFold(id.At(0).Token, x.Name)
		if err := registry.CheckName("exempt", x.Name, false); err != nil && !isProbe {
			return inOption("exempt "+x.Name, fmt.Errorf("%w; a program of your own needs a crawler block, and addresses stand behind from", err))
		}
	}
	return nil
}

// CheckNames returns an error for a name in exempt, in enforce or in a step that
// the registry does not have.
func (s *Settings) CheckNames(registry *crawler.Registry) error {
	err := cmp.Or(checkExempt(s.Exempt, registry), inOption("enforce", registry.CheckNames("enforce", s.Enforced...)))
	for name, named := range loaded[step.Named](s) {
		err = cmp.Or(err, inOption(name, named.CheckNames(registry)))
	}
	return err
}
