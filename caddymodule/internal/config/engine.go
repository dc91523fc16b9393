package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// On returns the value of a switch that is off by default.
func On(value *bool) bool { return value != nil && *value }

// Holds returns the classes of programs that the settings hold to robots.txt.
func (s *Settings) Holds() (classes []string) {
	if On(s.HTTPClients) {
		classes = append(classes, crawler.Library.String())
	}
	if s.Programs == programs[1] {
		classes = append(classes, crawler.Program.String())
	}
	return classes
}

// EngineSettings converts the settings to the engine's, without a registry.
func (s *Settings) EngineSettings() (r judge.Settings, err error) {
	r = judge.Settings{
		ID:                  s.id(),
		ExemptPaths:         s.EffectiveExemptPaths(),
		HTTPClients:         On(s.HTTPClients),
		Programs:            s.Programs == programs[1],
		IgnoreUserTriggered: s.UserTriggered != nil && !*s.UserTriggered,
		Strict:              On(s.Strict),
		Signals:             On(s.Signals),
		Views:               s.Paths.Views(),
	}
	if _, editor := s.Editor(); editor != nil {
		r.Edit = editor.Edit
	}
	if s.SourceKind() == SourceInline {
		r.SourceFile, r.SourceLine = cmp.Or(s.Source.File, "source inline"), s.Source.Line
	}
	for range loaded[step.Budgeter](s) {
		r.StepBudgets = true
	}
	r.Grace = judge.GraceOff
	for _, follower := range loaded[step.Follower](s) {
		r.Grace = follower.Grace()
	}
	var dialectErr, exemptErr error
	r.Dialect, dialectErr = s.dialect()
	r.Exempt, exemptErr = exemptions(s.Exempt)
	if c := s.CrawlDelay; c != nil {
		r.MaxDelay, r.Burst, r.PerIP = time.Duration(c.Max), c.Burst, c.Per == countByIP
	}
	if r.Monitor = s.Mode == ModeMonitor; r.Monitor {
		r.Except = s.Enforced
	}
	return r, cmp.Or(err, dialectErr, exemptErr)
}

// id returns judge.Settings.ID.
func (s *Settings) id() string {
	same := *s
	same.Places, same.Off = nil, nil
	for name := range loaded[step.Placed](s) {
		same.Places = same.Places.with(Places{name: s.Places[name]})
	}
	if s.SourceKind() != SourceInline { // of which the engine needs the lines
		same.Source = nil
	}
	text, err := json.Marshal(&same)
	if err != nil {
		return ""
	}
	return string(text)
}

// EffectiveExemptPaths returns ExemptPaths, or the default.
func (s *Settings) EffectiveExemptPaths() []string {
	if s.ExemptPaths == nil {
		return []string{"/.well-known/*"}
	}
	return s.ExemptPaths
}

// Check checks the settings alone: it reads no files and uses no network.
func (s *Settings) Check() error {
	_, dialectErr := s.dialect()
	_, exemptErr := exemptions(s.Exempt)
	return cmp.Or(
		modes.Check("mode", s.Mode),
		errorActions.Check("on_error", s.OnError),
		programs.Check("programs", s.Programs),
		s.checkHosts(),
		s.checkReads(),
		dialectErr,
		s.CrawlDelay.check(),
		checkSteps(s.Steps, false),
		exemptErr,
		checkCrawlers(s.Crawlers),
		checkAnswers(s.Answers),
	)
}

// checkReads checks the settings about reads of the source.
func (s *Settings) checkReads() error {
	switch {
	case s.Refresh != 0 && time.Duration(s.Refresh) < time.Second:
		return fmt.Errorf("refresh %s is below 1s", time.Duration(s.Refresh))
	case s.MaxOrigins < 0:
		return fmt.Errorf("max_origins %d is below 1", s.MaxOrigins)
	}
	return nil
}

// checkPublish returns an error for Publish without a source of one file.
func (s *Settings) checkPublish() error {
	if On(s.Publish) && s.SourceKind() == SourceSite {
		return errors.New("publish needs source file, inline or url: with source site, the site already serves its own robots.txt")
	}
	return nil
}

func (s *Settings) dialect() (robots.Dialect, error) {
	dialect, err := robots.ParseDialect(cmp.Or(s.Dialect, robots.RFC9309.String()))
	return dialect, lines.About("dialect:", err)
}
