package config

import (
	"errors"
	"fmt"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/headers"
)

// AskedBy returns the name of the step for which requests are questions of another proxy; ""
// for none.
func (s *Settings) AskedBy() string {
	for name, step := range s.KnownSteps() {
		if step.Info().Asked {
			return name
		}
	}
	return ""
}

// unseen returns the settings that can't work if the handler does not see the page or
// when it ends.
func (s *Settings) unseen() (names []string) {
	add := func(set bool, name string) {
		if set {
			names = append(names, name)
		}
	}
	for name, step := range s.KnownSteps() {
		add(step.Info().NeedsResponse && !step.Info().Default, name)
	}
	for _, w := range loaded[step.Watchful](s) {
		part := w.Unseen()
		add(part != "", part)
	}
	for _, rule := range s.XRobotsTag {
		add(rule.Kind == headers.KindType || rule.Kind == headers.KindStatus, "x_robots_tag by "+string(rule.Kind))
	}
	return names
}

// checkAsked returns an error for settings that have no effect on the question of a proxy,
// because it ends before the page is made. Call it after AddDefaults.
func (s *Settings) checkAsked() error {
	name, unseen := s.AskedBy(), s.unseen()
	switch {
	case name == "":
		return nil
	case s.Source == nil || s.Source.Kind == "":
		return InOption(name, errors.New("it needs a line source that says where the proxy's site has its robots.txt: "+
			"source url https://example.com/robots.txt, or source site with a reverse_proxy to that site after robots"))
	case len(unseen) > 0:
		return InOption(name, fmt.Errorf("%s can't work, because the handler does not see the page or when it ends: "+
			"remove it, or set it to off", unseen[0]))
	}
	return nil
}
