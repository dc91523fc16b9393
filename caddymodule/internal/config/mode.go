package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

var errGuard = errors.New("guard needs verify, because it acts only for search engines that are verified: add a line verify")

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
		"guard": func(_ string, values []string) error {
			switch {
			case s.Mode != ModeEnforce:
				return errors.New("guard is for mode enforce: in mode monitor, nothing is refused that it could stop")
			case len(values) > 0:
				return errors.New("guard takes no value")
			}
			s.Guard = new(true)
			p.checkLater(func() error {
				if p.merged().Verify == nil && !p.global {
					return errGuard
				}
				return nil
			})
			return nil
		},
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

// Hosts is a set of hosts and patterns of hosts.
type Hosts struct {
	names    map[string]bool
	patterns []string
}

// NewHosts returns the set of the hosts and patterns in a list, which CheckHost accepts.
func NewHosts(list []string) (h Hosts) {
	for _, name := range list {
		switch name = routes.PlainHost(name); {
		case routes.IsPattern(name):
			h.patterns = append(h.patterns, name)
		case h.names == nil:
			h.names = make(map[string]bool)
			fallthrough
		default:
			h.names[name] = true
		}
	}
	return h
}

// Has reports whether a host, in lower case, is in the set.
func (h *Hosts) Has(host string) bool {
	return h.names[host] || h.patterns != nil && slices.ContainsFunc(h.patterns, func(p string) bool { return routes.MatchesHost(p, host) })
}

// IsOff reports whether the handler leaves a host alone.
func (s *Settings) IsOff(host string) bool {
	off := NewHosts(s.OffHosts)
	return off.Has(host)
}

func (s *Settings) checkOffHosts() error {
	for _, host := range s.OffHosts {
		if err := checkHost(host); err != nil {
			return about("off_hosts:", err)
		}
	}
	return nil
}

// checkHost returns an error if a value of off_hosts is neither a host name nor a pattern
// with a * for a label.
func checkHost(name string) error {
	plain := strings.ToLower(strings.TrimSuffix(name, "."))
	for label := range strings.SplitSeq(plain, ".") {
		if strings.Contains(label, "*") && label != "*" {
			return fmt.Errorf("%q: a * stands for one label, as in *.example.com", name)
		}
	}
	switch {
	case plain == "*":
		return fmt.Errorf("%q: write the hosts; to leave all alone, remove robots from the site", name)
	case !counters.IsHostName(strings.ReplaceAll(plain, "*", "x")):
		return fmt.Errorf("%q: write only the host name, such as shop.example.com, or a pattern, such as *.example.com", name)
	}
	return nil
}
