package config

import (
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

// knowSteps makes the lines of steps known to errors.
var knowSteps = sync.OnceFunc(func() {
	lines.KnowSite(step.Names(false)...)
	lines.KnowProcess(step.Names(true)...)
	for _, name := range step.Names(false) {
		info := step.New(name).Info()
		lines.KnowWords(info.Words...)
		if len(info.Lines) > 0 {
			lines.KnowBlock(info.Example, info.Lines...)
		}
	}
})

// KnownSteps returns the steps that are set, in the order of their stages. They have their
// settings, unless these are malformed, and are not set up.
func (s *Settings) KnownSteps() iter.Seq2[string, step.Step] {
	return func(yield func(string, step.Step) bool) {
		for _, name := range step.Names(false) {
			if s.Steps[name] == nil {
				continue
			}
			known := step.New(name)
			if json.Unmarshal(s.Steps[name], known) != nil {
				known = step.New(name)
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

// stepsWith returns the steps of the settings, with those of the defaults that are neither
// set nor off.
func (s *Settings) stepsWith(defaults *Settings, off []string) caddy.ModuleMap {
	if len(defaults.Steps) == 0 {
		return s.Steps
	}
	all := maps.Clone(defaults.Steps)
	for _, name := range off {
		delete(all, name)
	}
	maps.Copy(all, s.Steps)
	return all
}

// isDefault reports whether there is a step with a name that is on by default.
func isDefault(name string) bool {
	s := step.New(name)
	return s != nil && s.Info().Default
}

// withDefaultSteps returns the steps of the settings, with those that are on by default, and
// off neither here nor in the defaults, which may be nil.
func (s *Settings) withDefaultSteps(defaults *Settings) caddy.ModuleMap {
	all, off := maps.Clone(s.Steps), s.Off
	if defaults != nil {
		off = slices.Concat(off, defaults.Off)
	}
	asked := (&Settings{Steps: all}).AskedBy() != ""
	for _, name := range step.Names(false) {
		info := step.New(name).Info()
		if !info.Default || all[name] != nil || slices.Contains(off, name) || info.NeedsResponse && asked {
			continue
		}
		if all == nil {
			all = make(caddy.ModuleMap)
		}
		all[name] = json.RawMessage("{}")
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
	if !p.NextArg() {
		return nil
	}
	name, all := "", []string(nil)
	for _, known := range step.Names(false) {
		words := step.New(known).Info().Words
		if slices.Contains(words, p.Val()) {
			name = known
		}
		all = append(all, words...)
	}
	switch value := p.Token(); {
	case name != "":
		line := value
		line.Text = name
		p.note(name)
		p.addLine(name, caddyfile.Segment{line, value})
	case len(all) == 0:
		return p.Errf("unexpected %q: this program has no step that takes a value of robots, so write only options, in a block", p.Val())
	default:
		return p.Errf("unexpected %q: robots takes %s, and its options in a block", p.Val(), strings.Join(all, " or "))
	}
	if p.NextArg() {
		return p.Errf("unexpected %q: robots takes one value, and its options in a block", p.Val())
	}
	return nil
}

// addLine keeps a line of a step for unmarshalSteps.
func (p *parser) addLine(name string, line caddyfile.Segment) {
	if p.steps == nil {
		p.steps = make(map[string]caddyfile.Segment)
	}
	p.steps[name] = append(p.steps[name], line...)
}

// step parses a line of a step.
func (p *parser) step(name string, _ []string) error {
	*p.Dispenser = p.Head
	if p.steps[name] != nil && !step.New(name).Info().Repeatable { // Block finds all others
		return fmt.Errorf("%s is given twice: behind robots, and in its block", name)
	}
	if p.steps[name] == nil {
		p.note(name)
	}
	p.addLine(name, p.NextSegment())
	return nil
}

// unmarshalSteps sets up the steps. Each gets all lines with its name.
func (p *parser) unmarshalSteps() error {
	for name := range p.steps {
		s := step.New(name)
		d := caddyfile.NewDispenser(p.steps[name])
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
		p.later = append(p.later, func() error {
			d.Reset()
			d.Next()
			return lines.Place(d, p.checkStep(s))
		})
	}
	return nil
}

// checkStep returns the error of a step with the whole block. Crawlers that a registry may add
// are read only when the configuration is loaded, so names are not checked then.
func (p *parser) checkStep(s step.Step) error {
	registry, complete := p.knownRegistry()
	if named, ok := s.(step.Named); ok && complete {
		if err := named.CheckNames(registry); err != nil {
			return err
		}
	}
	if editor, ok := s.(step.Editor); ok {
		if additions, err := editor.Edit(registry); err != nil && (complete || additions == nil) {
			return err
		}
	}
	if s.Info().Asked && !p.global {
		return p.merged().checkAsked()
	}
	return nil
}
