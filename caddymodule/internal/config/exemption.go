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
	"github.com/caddy-robots/caddy-robots/internal/words"
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
	for i, name := range names {
		switch _, err := caddyhttp.CIDRExpressionToPrefix(name); {
		case err == nil:
			return fmt.Errorf("exempt: write the name of the crawler, and from, before the addresses: exempt %s from %s",
				cmp.Or(strings.Join(names[:i], " "), "NAME"), strings.Join(names[i:], " "))
		case strings.HasPrefix(name, "/"):
			return fmt.Errorf("exempt %s: it takes crawlers; write exempt_paths %s", name, name)
		}
	}
	added := words.Map(names, func(name string) Exemption { return Exemption{Name: name, From: from} })
	if _, err := exemptions(added); err != nil {
		return err
	}
	p.settings.Exempt = append(p.settings.Exempt, added...)
	p.checkNames(func(registry *crawler.Registry) error { return CheckExempt(added, registry) })
	return nil
}

// CheckExempt returns an error for a name that no crawler of the registry has,
// and that is not the name of a probe.
func CheckExempt(exempt []Exemption, registry *crawler.Registry) error {
	for _, x := range exempt {
		var id crawler.Identity
		registry.Matcher(nil).Identify(x.Name, &id)
		if registry.Lookup(x.Name) != nil || id.Class() == crawler.Probe && strings.EqualFold(id.At(0).Token, x.Name) {
			continue
		}
		var known []string
		for row := range registry.All() {
			known = append(append(known, row.Tokens()...), row.Name)
		}
		return fmt.Errorf("exempt %q: no crawler has this name or token%s; add a crawler of your own with a crawler block", x.Name,
			lines.Suggestion(x.Name, slices.Values(known)))
	}
	return nil
}

// CheckNames returns an error for a name in exempt, in enforce or in a step that
// the registry does not have.
func (s *Settings) CheckNames(registry *crawler.Registry) error {
	err := cmp.Or(CheckExempt(s.Exempt, registry), registry.CheckNames("enforce", s.Enforced...))
	for _, named := range loaded[step.Named](s) {
		err = cmp.Or(err, named.CheckNames(registry))
	}
	return err
}

// checkDefaultNames returns an error if an exempt crawler of the global option is
// not known here, because the crawler blocks of the site replace those of the
// global option.
func (p *parser) checkDefaultNames() error {
	if p.defaults == nil || p.settings.Crawlers == nil || p.settings.Exempt != nil || slices.Contains(p.settings.Off, "exempt") {
		return nil
	}
	registry, complete := p.knownRegistry()
	if err := CheckExempt(p.defaults.Exempt, registry); err != nil && complete {
		return fmt.Errorf("the crawler blocks of this site replace all of those of the global option robots, and the global %w. "+
			"Repeat the global crawler block here, or write exempt off", err)
	}
	return nil
}
