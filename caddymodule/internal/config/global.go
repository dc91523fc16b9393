package config

import (
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
	"github.com/pbnjay/memory"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// Global configures what all sites share, and has the defaults of their settings.
type Global struct {
	// Default settings for all robots handlers. A setting in a handler replaces
	// the default as a whole: lists and blocks are not merged. Switches that
	// are on here can be set to false in a handler.
	Defaults *Settings `json:"defaults,omitempty"`

	// How much memory the robots.txt files of all sites may take, with earlier versions, from
	// 16MiB to 1TiB; in JSON a number of bytes. Beyond it, files of hosts that no site address
	// names are dropped first. Default: an eighth of GOMEMLIMIT or of the machine's memory,
	// whichever is less, and at least 64MiB.
	//
	//	max_memory 256MiB
	MaxMemory int64 `json:"max_memory,omitempty"`

	// A file of this server that keeps the counters over a restart, and what accidents are
	// found by, written every five minutes and when Caddy stops. One that can't be read
	// becomes FILE.bad. Default: none.
	//
	//	persist /var/lib/caddy/robots.counters
	Persist string `json:"persist,omitempty"`

	// The steps for the process, by their names. In a Caddyfile each is the line with its
	// name.
	Steps caddy.ModuleMap `json:"steps,omitempty" caddy:"namespace=http.robots.steps"`
}

// DefaultMaxMemory returns the default of max_memory: an eighth of GOMEMLIMIT or of
// the machine's memory, whichever is less, and at least 64 MiB.
func DefaultMaxMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	if total := memory.TotalMemory(); total < uint64(limit) {
		limit = int64(total) // 0 if it is not known
	}
	return max(limit/8, 64<<20)
}

// leastMemory is the least value of max_memory in a Caddyfile, in octets: the
// size of one compiled file of the largest size that is read.
const leastMemory = 16 << 20

// globalLines are the lines that only the global option robots has.
var globalLines = []string{"max_memory", "persist"}

// ParseGlobal parses the global option robots.
func ParseGlobal(d *caddyfile.Dispenser) (*Global, error) {
	g, defaults := new(Global), new(Settings)
	p := newParser(d, defaults)
	p.global = true
	known := lines.Table{
		"max_memory": lines.One(g.maxMemory), "persist": p.noted("persist", lines.Text(&g.Persist)),
	}
	for _, name := range step.Names(true) {
		known[name] = p.step
	}
	maps.Copy(known, p.site())
	if err := p.directive(known); err != nil {
		return nil, err
	}
	g.Steps = p.process
	if !reflect.ValueOf(defaults).Elem().IsZero() {
		g.Defaults = defaults
	}
	return g, nil
}

// Places returns the places of the options.
func (g *Global) Places() Places {
	if g.Defaults == nil {
		return nil
	}
	return g.Defaults.Places
}

// Check checks the settings alone: it reads no files and uses no network.
func (g *Global) Check() error {
	if g.MaxMemory < 0 {
		return fmt.Errorf("max_memory %d is below 0", g.MaxMemory)
	}
	if err := checkSteps(g.Steps, true); err != nil || g.Defaults == nil {
		return err
	}
	for _, name := range g.Defaults.Off {
		if defaultSteps()[name] == nil {
			return fmt.Errorf("off: %q is off by default", name)
		}
	}
	return g.Defaults.Check()
}

// maxMemory parses the line max_memory.
func (g *Global) maxMemory(_, value string) error {
	size, err := humanize.ParseBytes(value)
	if err != nil || size < leastMemory || size > 1<<40 {
		return fmt.Errorf("max_memory: %q is not a size from 16MiB to 1TiB: write it as 64MiB", value)
	}
	g.MaxMemory = int64(size)
	return nil
}
