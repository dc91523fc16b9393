package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// KnownSteps returns the steps that are set, in the order of their stages. They have their
// settings, unless these are malformed, and are not set up.
func (s *Settings) KnownSteps() iter.Seq2[string, step.Step] {
	return func(yield func(string, step.Step) bool) {
		for _, name := range step.Names(false) {
			if s.Steps[name] == nil {
				continue
			}
			known := defaultSteps()[name]
			if known == nil || string(s.Steps[name]) != noSettings {
				known = step.New(name)
				if json.Unmarshal(s.Steps[name], known) != nil {
					known = step.New(name)
				}
			}
			if !yield(name, known) {
				return
			}
		}
	}
}

// loaded returns the steps that are set and are a T, by their names. They are not set up.
func loaded[T any](s *Settings) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for name, known := range s.KnownSteps() {
			if is, ok := known.(T); ok && !yield(name, is) {
				return
			}
		}
	}
}

// Editor returns the step that adds to robots.txt, with its name; nil without one. It is not
// set up.
func (s *Settings) Editor() (string, step.Editor) {
	for name, editor := range loaded[step.Editor](s) {
		return name, editor
	}
	return "", nil
}

// has reports whether a line is set, by the JSON name of its setting or its step.
func (s *Settings) has(name string) bool {
	field := slices.Index(names(), name) // -1: no setting is called so
	return s.Steps[name] != nil || field >= 0 && !reflect.ValueOf(s).Elem().Field(field).IsZero()
}

// hasStep reports whether a step is set of which is says so.
func (s *Settings) hasStep(is func(step.Info) bool) bool {
	for _, step := range s.KnownSteps() {
		if is(step.Info()) {
			return true
		}
	}
	return false
}

// noSettings is the JSON of a step without settings.
const noSettings = "{}"

// defaultSteps returns the steps that are on by default, by their names. They have no settings,
// and are not set up: all sites share them.
var defaultSteps = sync.OnceValue(func() map[string]step.Step {
	all := make(map[string]step.Step)
	for _, name := range step.Names(false) {
		if s := step.New(name); s.Info().Default {
			all[name] = s
		}
	}
	return all
})

// mergedSteps returns the steps of the settings, those of the defaults that are not off, and
// those that are on by default and off neither here nor in the defaults.
func (s *Settings) mergedSteps(defaults *Settings) caddy.ModuleMap {
	all := make(caddy.ModuleMap)
	maps.Copy(all, defaults.Steps)
	for _, name := range s.Off {
		delete(all, name)
	}
	maps.Copy(all, s.Steps)
	off, asked := slices.Concat(s.Off, defaults.Off), (&Settings{Steps: all}).AskedBy() != ""
	for name, known := range defaultSteps() {
		if all[name] == nil && !slices.Contains(off, name) && !(known.Info().NeedsResponse && asked) {
			all[name] = json.RawMessage(noSettings)
		}
	}
	return all
}

// checkSteps returns an error for a step that this program does not have, of handlers or for
// the process. The steps check themselves when they are loaded.
func checkSteps(steps caddy.ModuleMap, process bool) error {
	for name := range steps {
		if known := step.Names(process); !slices.Contains(known, name) {
			return fmt.Errorf("steps: this program has no step %q: it has %s", name, strings.Join(slices.Sorted(slices.Values(known)), ", "))
		}
	}
	return nil
}

// words parses what stands behind the name of the directive: a value of a step's line.
func (p *parser) words() error {
	p.Next() // the directive's name
	for p.NextArg() {
		name, all := "", []string(nil)
		for _, known := range step.Names(false) {
			words := step.New(known).Info().Words
			if slices.Contains(words, p.Val()) {
				name = known
			}
			all = append(all, words...)
		}
		if name == "" || p.segments[name] != nil {
			return p.Errf("unexpected %q: robots takes %s, and its options in a block", p.Val(),
				cmp.Or(strings.Join(all, " or "), "no value"))
		}
		line := p.Token()
		line.Text = name
		p.note(name)
		p.segments[name] = caddyfile.Segment{line, p.Token()}
	}
	return nil
}

// step keeps a line of a step for unmarshalSteps.
func (p *parser) step(name string, _ []string) error {
	*p.Dispenser = p.Head
	if p.segments[name] == nil {
		p.note(name)
	} else if !step.New(name).Info().Repeatable { // Block finds all others
		return fmt.Errorf("%s is given twice: behind robots, and in its block", name)
	}
	p.segments[name] = append(p.segments[name], p.NextSegment()...)
	return nil
}

// unmarshalSteps sets up the steps. Each gets all lines with its name.
func (p *parser) unmarshalSteps() error {
	for name, segment := range p.segments {
		s, d := step.New(name), caddyfile.NewDispenser(segment)
		if err := s.UnmarshalCaddyfile(d); err != nil {
			return lines.Place(d, err)
		}
		steps := &p.settings.Steps
		if s.Info().Process {
			steps = &p.process
		}
		if *steps == nil {
			*steps = make(caddy.ModuleMap)
		}
		(*steps)[name] = caddyconfig.JSON(s, nil)
		p.steps[name] = s
	}
	return nil
}
