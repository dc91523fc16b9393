package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// mode parses the block mode.
func (p *parser) mode(name string, values []string) error {
	s := p.settings
	if len(values) > 1 && slices.Contains(modes, values[0]) {
		return fmt.Errorf("mode: %s belongs into a block: %s", values[1], blockOf("mode "+values[0], strings.Join(values[1:], " ")))
	}
	if err := choice(&s.Mode, modes)(name, values); err != nil {
		return err
	}
	return p.block(table{
		"enforce": func(name string, values []string) error {
			if s.Mode != ModeMonitor {
				return errors.New("enforce is for mode monitor: mode enforce refuses the requests of all crawlers")
			}
			p.checkNames(func(registry *crawler.Registry) error { return managed.CheckNames(registry, "enforce", values) })
			return list(&s.Enforced)(name, values)
		},
	}, nil)
}

// merged returns the settings with the defaults of the global option.
func (p *parser) merged() *Settings {
	s := *p.settings
	s.AddDefaults(p.defaults, p.off)
	return &s
}

// checkLater calls check after the whole block is parsed. Its error gets the place
// of this line.
func (p *parser) checkLater(check func() error) {
	here := *p.Dispenser
	p.later = append(p.later, func() error { return place(&here, check()) })
}

// checkNames is checkLater for names of crawlers. It does not call check if a
// registry may add names, which is read only when the configuration is loaded.
func (p *parser) checkNames(check func(*crawler.Registry) error) {
	p.checkLater(func() error {
		if registry, complete := p.knownRegistry(); complete {
			return check(registry)
		}
		return nil
	})
}
