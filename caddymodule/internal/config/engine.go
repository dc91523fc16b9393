package config

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The values of settings. The first one is the default.
var (
	modes        = choices{ModeEnforce, ModeMonitor}
	errorActions = choices{onErrorKeep, OnErrorDeny}
	programs     = choices{enforce.ProgramsOff.String(), enforce.ProgramsSeen.String(), enforce.ProgramsOn.String()}
	graces       = choices{enforce.GraceSearch.String(), enforce.GraceOff.String(), enforce.GraceAll.String()}
)

// On returns the value of a switch that is off by default.
func On(value *bool) bool { return value != nil && *value }

// Engine converts the settings to the engine's, without a registry.
func (s *Settings) Engine() (r enforce.Settings, err error) {
	r = enforce.Settings{
		ExemptPaths:         s.ExemptPaths,
		HTTPClients:         On(s.HTTPClients),
		IgnoreUserTriggered: s.UserTriggered != nil && !*s.UserTriggered,
		Strict:              On(s.Strict),
		Signals:             On(s.Signals),
		Managed:             s.Policy,
		Views:               s.Paths.Views(),
	}
	if s.ExemptPaths == nil {
		r.ExemptPaths = []string{"/.well-known/*"}
	}
	if r.Dialect, err = robots.ParseDialect(cmp.Or(s.Dialect, robots.RFC9309.String())); err != nil {
		return r, err
	}
	if r.Exempt, err = s.exemptions(); err != nil {
		return r, err
	}
	if r.Programs, err = enforce.ParsePrograms(cmp.Or(s.Programs, programs[0])); err != nil {
		return r, fmt.Errorf("programs %w", err)
	}
	if r.Grace, err = enforce.ParseGrace(cmp.Or(s.Grace, graces[0])); err != nil {
		return r, fmt.Errorf("grace %w", err)
	}
	if c := s.CrawlDelay; c != nil {
		r.MaxDelay, r.Wait, r.Burst, r.PerIP = time.Duration(c.Max), time.Duration(c.Wait), c.Burst, c.Per == countByIP
	}
	if s.Mode == ModeMonitor {
		r.Monitor, r.Wait = true, 0
	}
	return r, nil
}

// Check checks the settings alone: it reads no files and uses no network.
func (s *Settings) Check() error {
	for _, setting := range []struct {
		name, value string
		allowed     choices
	}{
		{"mode", s.Mode, modes}, {"on_error", s.OnError, errorActions}, {"programs", s.Programs, programs}, {"grace", s.Grace, graces},
	} {
		if err := setting.allowed.check(setting.name, setting.value); err != nil {
			return err
		}
	}
	switch {
	case s.Refresh != 0 && time.Duration(s.Refresh) < time.Second:
		return fmt.Errorf("refresh %s is below 1s", time.Duration(s.Refresh))
	case s.MaxOrigins < 0:
		return fmt.Errorf("max_origins %d is below 1", s.MaxOrigins)
	case On(s.Publish) && s.SourceKind() == SourceSite:
		return errors.New("publish needs source file, inline or url: with source site, the site already serves its own robots.txt")
	}
	if s.CrawlDelay != nil {
		if err := s.CrawlDelay.validate(); err != nil {
			return err
		}
	}
	if s.Verify != nil {
		if err := s.Verify.validate(); err != nil {
			return err
		}
	}
	if s.Suspects != nil {
		if err := s.Suspects.validate(); err != nil {
			return err
		}
	}
	if _, err := s.exemptions(); err != nil {
		return err
	}
	for i := range s.Crawlers {
		if err := s.Crawlers[i].validate(); err != nil {
			return err
		}
	}
	if err := checkAnswers(s.Answers); err != nil {
		return err
	}
	if s.Fleet != nil {
		return s.Fleet.validate()
	}
	return nil
}

// dialect parses
//
//	dialect rfc9309 | 1994 | 1996
func (p *parser) dialect(_, value string) error {
	if _, err := robots.ParseDialect(value); err != nil {
		return fmt.Errorf("dialect: %w", err)
	}
	p.settings.Dialect = value
	return nil
}

// xRobotsTag parses
//
//	x_robots_tag [not] <pattern> [<crawler>: [only]] <directives...>
func (p *parser) xRobotsTag(_ string, values []string) error {
	rule, err := headers.ParseSetting(values)
	if err != nil {
		return fmt.Errorf("x_robots_tag: %w", err)
	}
	p.settings.XRobotsTag = append(p.settings.XRobotsTag, rule)
	return nil
}
