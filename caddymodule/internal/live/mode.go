package live

import (
	"maps"
	"net/http"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Mode says whose requests are refused. It is immutable.
type Mode struct {
	*judge.Mode
	Monitor bool
	Except  []string // names and purposes of crawlers with the other mode
	But     []string // names of crawlers that have a purpose in Except, and not the other mode
}

// bind returns the mode for the crawlers in a registry.
func (m Mode) bind(registry *crawler.Registry) Mode {
	m.Mode = judge.NewMode(registry, m.Monitor, m.Except, m.But...)
	return m
}

// String returns the name in package statusapi.
func (m Mode) String() string {
	switch {
	case len(m.Except) > 0:
		return statusapi.Both
	case m.Monitor:
		return statusapi.Monitor
	}
	return statusapi.Enforce
}

// named returns the names in Except and But for a message.
func (m *Mode) named() []string {
	if len(m.But) == 0 {
		return m.Except
	}
	return append(slices.Clip(m.Except), "not "+words.List(m.But, 5))
}

// of returns the mode of a crawler, or of all without a crawler.
func (m *Mode) of(row *crawler.Crawler) string {
	if row == nil {
		return m.String()
	}
	return Mode{Monitor: m.Monitors(row)}.String()
}

// with returns the mode that a query makes of m. row is the crawler that it names, nil if
// it is about all, and was the configured mode. A name goes before a purpose.
func (m Mode) with(registry *crawler.Registry, row *crawler.Crawler, query string, was *Mode) Mode {
	wanted := query == statusapi.Monitor
	switch {
	case row == nil && query == statusapi.Configured:
		return *was
	case row == nil:
		return Mode{Monitor: wanted}.bind(registry)
	case query == statusapi.Configured:
		wanted = was.Monitors(row)
	}
	is := func(name string) bool { return registry.Lookup(name) == row }
	m.Except, m.But = slices.DeleteFunc(slices.Clone(m.Except), is), slices.DeleteFunc(slices.Clone(m.But), is)
	switch m = m.bind(registry); {
	case m.Monitors(row) == wanted:
		return m
	case m.Monitor == wanted:
		m.But = append(m.But, row.Name)
	default:
		m.Except = append(m.Except, row.Name)
	}
	return m.bind(registry)
}

// maxHostModes is the largest number of hosts of a handler with a mode that was set.
const maxHostModes = 1000

// Modes are the modes of the hosts of a handler: of the configuration, or set until the
// next load. They are immutable.
type Modes struct {
	registry   *crawler.Registry
	configured *Modes
	lines      *config.ModesOfHosts
	all        *Mode
	byLine     map[string]*Mode // of the hosts in lines, by the mode of their line
	byHost     map[string]*Mode // of the hosts for which one was set
}

// NewModes returns the configured modes.
func NewModes(s *config.Settings, registry *crawler.Registry) *Modes {
	bind := func(m Mode) *Mode { return new(m.bind(registry)) }
	lines, all := s.ModesOfHosts(), Mode{Monitor: s.Mode == config.ModeMonitor}
	if all.Monitor {
		all.Except = s.Enforced
	}
	m := &Modes{registry: registry, lines: &lines, all: bind(all), byLine: map[string]*Mode{
		config.ModeMonitor: bind(Mode{Monitor: true}), config.ModeEnforce: bind(Mode{}),
	}}
	m.configured = m
	return m
}

// Bind returns the modes for another registry.
func (m *Modes) Bind(registry *crawler.Registry) *Modes {
	bound := m.each(func(mode, _ *Mode) Mode { return mode.bind(registry) })
	bound.registry = registry
	if m.configured == m {
		bound.configured = bound
	} else {
		bound.configured = m.configured.Bind(registry)
	}
	return bound
}

// each returns the modes that change makes of those in m. was is the configured one.
func (m *Modes) each(change func(mode, was *Mode) Mode) *Modes {
	changed := *m
	changed.all = new(change(m.all, m.configured.all))
	changed.byLine, changed.byHost = maps.Clone(m.byLine), maps.Clone(m.byHost)
	for line, mode := range changed.byLine {
		changed.byLine[line] = new(change(mode, m.configured.byLine[line]))
	}
	for host, mode := range changed.byHost {
		changed.byHost[host] = new(change(mode, m.configured.At(host)))
	}
	return &changed
}

// At returns the mode of a host, in lower case; nil if the handler leaves it alone.
func (m *Modes) At(host string) *Mode {
	line := m.lines.Of(host)
	if line == config.ModeOff {
		return nil
	}
	if mode := m.byHost[host]; mode != nil {
		return mode
	}
	if line == "" {
		return m.all
	}
	return m.byLine[line]
}

// All returns the mode of the hosts that have no other.
func (m *Modes) All() *Mode { return m.all }

// isOverridden reports whether the mode of a host is not the configured one.
func (m *Modes) isOverridden(host string) bool {
	now := m.At(host)
	return now != nil && m != m.configured && !now.Same(m.configured.At(host).Mode)
}

// set returns the modes that a query makes of m, at some hosts or, without hosts, at all.
func (m *Modes) set(hosts []string, row *crawler.Crawler, query string) (*Modes, error) {
	if hosts == nil {
		changed := m.each(func(mode, was *Mode) Mode { return mode.with(m.registry, row, query, was) })
		if row == nil {
			changed.byHost = nil
		}
		return changed, nil
	}
	changed := *m
	changed.byHost = make(map[string]*Mode)
	maps.Copy(changed.byHost, m.byHost)
	for _, host := range hosts {
		mode := m.At(host)
		if mode == nil {
			return nil, statusapi.Errorf(http.StatusConflict, "a line host of the configuration leaves %s alone (off)", host)
		}
		wanted := new(mode.with(m.registry, row, query, m.configured.At(host)))
		delete(changed.byHost, host)
		if !changed.At(host).Same(wanted.Mode) {
			changed.byHost[host] = wanted
		}
	}
	if len(changed.byHost) > maxHostModes {
		return nil, statusapi.Errorf(http.StatusConflict, "%d hosts have a mode of their own, which is the limit", maxHostModes)
	}
	return &changed, nil
}

// own returns the hosts with a mode that was set for them.
func (m *Modes) own() []string { return slices.Sorted(maps.Keys(m.byHost)) }
