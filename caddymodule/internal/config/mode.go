package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// mode parses the block mode.
func (p *parser) mode(name string, values []string) error {
	s := p.settings
	if err := lines.Choice(&s.Mode, modes)(name, values); err != nil {
		return err
	}
	return p.Block(lines.Table{
		"enforce": func(name string, values []string) error {
			if s.Mode != ModeMonitor {
				return errors.New("enforce is for mode monitor: mode enforce refuses the requests of all crawlers")
			}
			p.head("enforce")
			return lines.List(&s.Enforced)(name, values)
		},
	}, nil)
}

// ModeOff is the value of HostMode.Mode for hosts that the handler leaves alone.
const ModeOff = "off"

var hostModes = lines.Choices{ModeOff, ModeMonitor, ModeEnforce}

// HostMode is the mode of some hosts of the handler. A host is a name, or a pattern in
// which a `*` stands for one label. A name goes before a pattern, and the pattern of an
// earlier line before that of a later one.
type HostMode struct {
	// Names and patterns of hosts.
	Hosts []string `json:"hosts"`

	// `off`: requests pass as if there were no `robots`, uncounted.
	Mode string `json:"mode"`
}

// ModesOfHosts finds the mode of a host.
type ModesOfHosts struct {
	names    map[string]string
	patterns []HostMode // of one pattern each
}

// ModesOfHosts returns the modes in Hosts, which must have been checked.
func (s *Settings) ModesOfHosts() (m ModesOfHosts) {
	for _, line := range s.Hosts {
		for _, name := range line.Hosts {
			switch name = routes.PlainHost(name); {
			case routes.IsPattern(name):
				m.patterns = append(m.patterns, HostMode{[]string{name}, line.Mode})
			case m.names == nil:
				m.names = make(map[string]string)
				fallthrough
			default:
				m.names[name] = line.Mode
			}
		}
	}
	return m
}

// Of returns the mode of a host, in lower case; "" if no line is about it.
func (m *ModesOfHosts) Of(host string) string {
	mode := m.names[host]
	for i := 0; mode == "" && i < len(m.patterns); i++ {
		if p := &m.patterns[i]; routes.MatchesHost(p.Hosts[0], host) {
			mode = p.Mode
		}
	}
	return mode
}

// Off returns the hosts and patterns that the handler leaves alone.
func (m *ModesOfHosts) Off() (hosts []string) {
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		if m.names[name] == ModeOff {
			hosts = append(hosts, name)
		}
	}
	for _, p := range m.patterns {
		if p.Mode == ModeOff {
			hosts = append(hosts, p.Hosts...)
		}
	}
	return hosts
}

// Enforces reports whether requests are refused at some host.
func (s *Settings) Enforces() bool {
	return s.Mode != ModeMonitor || slices.ContainsFunc(s.Hosts, func(h HostMode) bool { return h.Mode == ModeEnforce })
}

func (s *Settings) checkHosts() error {
	seen := make(map[string]bool)
	for _, line := range s.Hosts {
		if err := hostModes.Check("host: mode", line.Mode); err != nil || line.Mode == "" || len(line.Hosts) == 0 {
			return errors.Join(err, errHost)
		}
		for _, name := range line.Hosts {
			if err := checkHost(name); err != nil {
				return lines.About("host", err)
			}
			if name = routes.PlainHost(name); seen[name] {
				return fmt.Errorf("host %s is given twice", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// checkHost returns an error if a value is neither a host name nor a pattern with a *
// for a label.
func checkHost(name string) error {
	plain := strings.ToLower(strings.TrimSuffix(name, "."))
	for label := range strings.SplitSeq(plain, ".") {
		if strings.Contains(label, "*") && label != "*" {
			return fmt.Errorf("%q: a * stands for one label, as in *.example.com", name)
		}
	}
	switch {
	case plain == "*":
		return fmt.Errorf("%q: write the hosts; for all of them there is mode, and to leave all alone, remove robots from the site", name)
	case !counters.IsHostName(strings.ReplaceAll(plain, "*", "x")):
		return fmt.Errorf("%q: write only the host name, such as shop.example.com, or a pattern, such as *.example.com", name)
	}
	return nil
}

var errHost = errors.New("host: want names or patterns of hosts, and then off, monitor or enforce: host shop.example.com monitor")

// host parses the line host.
func (p *parser) host(_ string, values []string) error {
	last := len(values) - 1
	if last < 1 || !slices.Contains(hostModes, values[last]) {
		return errHost
	}
	p.settings.Hosts = append(p.settings.Hosts, HostMode{values[:last:last], values[last]})
	return nil
}
