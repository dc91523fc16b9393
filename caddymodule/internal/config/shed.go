package config

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const maxInFlight = 1_000_000

// Shed refuses crawlers with 503 while the server is busy, so that people get their
// pages.
//
// One kind of crawlers after the other is refused, as long as the load stays, if at least
// a tenth of the requests of the last 10 seconds are theirs. Browsers, HTTP libraries,
// programs, webhooks, probes and what is exempt are never refused. Each handler counts its
// own requests: if several sites share a back end, each needs a smaller `in_flight`.
type Shed struct {
	// Busy while more than this many requests of all clients wait for the header of their
	// response. Those whose body is still arriving count for at most a quarter of it. The
	// body of a crawler's request is read first, as for `at_once` of `limit`.
	InFlight int `json:"in_flight,omitempty"`

	// The name of the configuration file that has this setting, such as
	// `Caddyfile`. It is only shown to operators.
	File string `json:"file,omitempty"`

	// The line of the configuration that has this setting.
	Line int `json:"line,omitempty"`
}

// Place returns the place of the setting.
func (s *Shed) Place() *judge.Place {
	return &judge.Place{Layer: shed.Layer, File: s.File, Line: s.Line, Text: "shed"}
}

// check returns an error for values that can't be used. A nil s has none.
func (s *Shed) check() error {
	switch {
	case s == nil:
		return nil
	case s.InFlight == 0:
		return errors.New("shed needs in_flight: how many requests may wait before robots are refused")
	case s.InFlight < 0 || s.InFlight > maxInFlight:
		return fmt.Errorf("shed in_flight %d is not between 1 and %d", s.InFlight, maxInFlight)
	}
	return nil
}

// shed parses the block shed.
func (p *parser) shed(_ string, args []string) error {
	if err := lines.OnlyBlock("shed", args, ""); err != nil {
		return err
	}
	head, s := p.Head, &Shed{File: filepath.Base(p.Head.File()), Line: p.Head.Line()}
	p.settings.Shed = s
	err := p.Block(lines.Table{
		"in_flight": lines.Number(&s.InFlight, maxInFlight),
	}, nil)
	if err != nil {
		return err
	}
	return lines.Place(&head, s.check())
}
