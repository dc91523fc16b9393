package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// Complete adds the defaults to the settings of a site, and checks the result.
func (s *Settings) Complete(defaults *Settings) error {
	own, err := s.Answers, s.checkOff()
	s.AddDefaults(defaults)
	return cmp.Or(err, s.Check(), s.checkPublish(), s.checkAsked(), s.checkNeeded(own))
}

// AddDefaults replaces the zero fields of the settings with the defaults, but for
// those in Off, and adds the steps that are on by default. If the settings themselves
// switch Strict on, the defaults that it overrides are left out. defaults may be nil.
func (s *Settings) AddDefaults(defaults *Settings) {
	if defaults == nil {
		defaults = new(Settings)
	}
	s.Steps = s.mergedSteps(defaults)
	off := append(slices.Clone(s.Off), "steps", "off")
	if s.Mode != "" { // these belong to the mode
		off = append(off, "enforced")
	}
	facts := len(s.Crawlers) == 0 && On(s.Strict)
	if On(s.Strict) {
		off = append(off, "user_triggered")
	}
	if s.Places != nil && defaults.Places != nil {
		s.Places = s.Places.with(defaults.Places)
	}
	own, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(defaults).Elem()
	for i, name := range names() {
		if to := own.Field(i); to.IsZero() && !slices.Contains(off, name) {
			to.Set(from.Field(i))
		}
	}
	if facts {
		s.Crawlers = slices.Clone(s.Crawlers)
		for i := range s.Crawlers {
			s.Crawlers[i].Star, s.Crawlers[i].CrawlDelay = "", ""
		}
	}
}

// names returns the JSON names of the fields of Settings.
var names = sync.OnceValue(func() (list []string) {
	for field := range reflect.TypeFor[Settings]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		list = append(list, name)
	}
	return list
})

// checkOff checks that the settings in Off can be switched off and are not given.
// Call it before AddDefaults.
func (s *Settings) checkOff() error {
	for _, name := range s.Off {
		if known := slices.Concat(names(), step.Names(false)); !slices.Contains(known, name) {
			return fmt.Errorf("off: there is no setting %q%s", name, lines.Suggestion(name, slices.Values(known)))
		}
		if s.has(name) {
			return fmt.Errorf("%s is off, and is also given", name)
		}
	}
	return nil
}

// orOff returns a parser for a line that also takes the only value off.
func (p *parser) orOff(setting string, parse lines.Line) lines.Line {
	return func(name string, values []string) error {
		ahead := *p.Dispenser
		if len(values) != 1 || values[0] != "off" || ahead.NextBlock(ahead.Nesting()) {
			return parse(name, values)
		}
		if p.global && defaultSteps()[setting] == nil {
			return fmt.Errorf("%s off: remove the line, because %s is off by default", name, name)
		}
		if slices.Contains(p.settings.Off, setting) {
			return fmt.Errorf("%s off is given twice", name)
		}
		p.settings.Off = append(p.settings.Off, setting)
		return nil
	}
}
