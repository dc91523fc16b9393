package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

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
