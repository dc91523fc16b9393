package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// registry parses
//
//	registry <file> | <url>
func (p *parser) registry(_, location string) error {
	if location == "" {
		return errors.New("registry: want a file or an https URL")
	}
	p.settings.Registry = location
	if registry.IsURL(location) && !hasPlaceholder(location) {
		return registry.CheckURL(location)
	}
	return nil
}

// WithCrawlers returns a registry with the crawlers of the configuration added.
func WithCrawlers(registry *crawler.Registry, crawlers []Crawler) (*crawler.Registry, error) {
	if len(crawlers) == 0 {
		return registry, nil
	}
	rows := make([]crawler.Crawler, len(crawlers))
	for i := range crawlers {
		var err error
		if rows[i], err = crawlers[i].row(registry); err != nil {
			return nil, fmt.Errorf("crawler %q: %w", crawlers[i].Name, err)
		}
	}
	return registry.With(rows...)
}

// knownRegistry returns the crawlers that are known while a Caddyfile is parsed:
// the built-in ones, and those in the Caddyfile. complete is false if more are
// known when the configuration is loaded.
func (p *parser) knownRegistry() (registry *crawler.Registry, complete bool) {
	s := *p.settings
	s.AddDefaults(p.defaults, p.off)
	registry, err := WithCrawlers(crawler.Builtin(), s.Crawlers)
	if err != nil {
		return crawler.Builtin(), false // the parser of the crawler block reports it
	}
	return registry, s.Registry == ""
}

// checkDefaultNames returns an error if an exempt crawler of the global option is
// not known here, because the crawler blocks of the site replace those of the
// global option.
func (p *parser) checkDefaultNames() error {
	if p.defaults == nil || p.settings.Crawlers == nil || p.settings.Exempt != nil || slices.Contains(p.off, "exempt") {
		return nil
	}
	registry, complete := p.knownRegistry()
	if err := CheckExempt(p.defaults.Exempt, registry); err != nil && complete {
		return fmt.Errorf("the crawler blocks of this site replace all of those of the global option robots, and the global %w. "+
			"Repeat the global crawler block here, or write exempt off", err)
	}
	return nil
}

// CheckExempt returns an error for a name that no crawler has.
func CheckExempt(exempt []Exemption, registry *crawler.Registry) error {
	for _, x := range exempt {
		if registry.Lookup(x.Name) != nil {
			continue
		}
		var known []string
		for row := range registry.All() {
			known = append(append(known, row.Tokens()...), row.Name)
		}
		return fmt.Errorf("exempt %q: no crawler has this name or token%s; add a crawler of your own with a crawler block", x.Name, suggestion(x.Name, slices.Values(known)))
	}
	return nil
}

// CheckPurpose returns an error for a purpose that is malformed or looks like a
// misspelt one of the registry. Other purposes are allowed, because operators
// may define their own.
func CheckPurpose(purpose string) error {
	var known []string
	for _, p := range managed.Purposes(crawler.Builtin()) {
		known = append(known, string(p))
	}
	if slices.Contains(known, purpose) {
		return nil
	}
	if strings.Trim(purpose, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || purpose == "" {
		return fmt.Errorf("purpose %q: want letters in lower case, digits and hyphens, such as %s", purpose, strings.Join(known, ", "))
	}
	for _, k := range known {
		if editdistance.Between(purpose, k) <= len(k)/4 {
			return fmt.Errorf("purpose %q: did you mean %s?", purpose, k)
		}
	}
	return nil
}
