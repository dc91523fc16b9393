package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Bounds of Shed.
const (
	maxInFlight  = 1_000_000
	leastLatency = 10 * time.Millisecond
	mostLatency  = 10 * time.Minute
)

// Shed refuses crawlers with 503 while the server is busy, so that people get their
// pages.
//
// It needs `in_flight`, `latency` or both. One kind of crawlers after the other is
// refused, as long as the load stays, if at least a tenth of the requests of the last 10
// seconds are theirs. Browsers, HTTP libraries, programs, webhooks, probes
// and what is exempt are never refused. Each handler counts its own requests: if several
// sites share a back end, each needs a smaller `in_flight`.
type Shed struct {
	// Busy while more than this many requests of all clients wait for the header of their
	// response. Those whose body is still arriving count for at most a quarter of it. The
	// body of a crawler's request is read first, as for `at_once` of `limit`. Default: any
	// number; then search engines are never refused.
	InFlight int `json:"in_flight,omitempty"`

	// Busy while more than one of ten pages of the last 10 seconds took longer than this
	// for people, from 10ms to 10m, and there were 20 or more; or while five people from
	// five addresses, and a fifth of those who wait, have waited longer. The time ends with
	// the header of the response; only GET requests of HTML documents with status 200, or of
	// navigations that wait, count. Default: any time.
	Latency caddy.Duration `json:"latency,omitempty"`

	// Whom to refuse first: purposes, `self-declared` or `ai-*`. The others follow: `self-declared` and whatever has no
	// place here, `ai-*`, `seo`, `archive`, `preview`, `search`, and at last verified
	// search engines, which lose at most a fifth of their requests. Default: this order.
	First []string `json:"first,omitempty"`

	// The name of the configuration file that has this setting, such as
	// `Caddyfile`. It is only shown to operators.
	File string `json:"file,omitempty"`

	// The line of the configuration that has this setting.
	Line int `json:"line,omitempty"`
}

// check returns an error for values that can't be used. A nil s has none.
func (s *Shed) check() error {
	switch {
	case s == nil:
		return nil
	case s.InFlight == 0 && s.Latency == 0:
		return errors.New("shed needs in_flight or latency: the load above which robots are refused")
	case s.InFlight < 0 || s.InFlight > maxInFlight:
		return fmt.Errorf("shed in_flight %d is not between 1 and %d", s.InFlight, maxInFlight)
	case s.Latency != 0 && (time.Duration(s.Latency) < leastLatency || time.Duration(s.Latency) > mostLatency):
		return fmt.Errorf("shed latency %s is not between %s and %s", time.Duration(s.Latency), leastLatency, mostLatency)
	}
	for _, name := range s.First {
		if s.InFlight == 0 && shed.IsProtected(crawler.Purpose(name)) {
			return fmt.Errorf("shed first: %s needs in_flight, "+
				"because robots that bring people to the site are not refused for latency alone", name)
		}
	}
	return nil
}

// CheckFirst returns an error for names in First that no crawler of a registry
// belongs to.
func (s *Shed) CheckFirst(registry *crawler.Registry) error {
	if s == nil {
		return nil
	}
	known := append(shed.Names(), words.Strings(managed.Purposes(registry))...)
	for _, name := range s.First {
		if !slices.Contains(known, name) {
			return fmt.Errorf("shed first %q: no crawler has this purpose%s", name, suggestion(name, slices.Values(known)))
		}
	}
	return nil
}

// Order returns the order in which robots are refused.
func (s *Shed) Order() *shed.Order { return shed.NewOrder(s.First, s.InFlight > 0) }

// shed parses the block shed.
func (p *parser) shed(_ string, args []string) error {
	if err := onlyBlock("shed", args); err != nil {
		return err
	}
	head, s := p.head, &Shed{File: filepath.Base(p.head.File()), Line: p.head.Line()}
	p.settings.Shed = s
	err := p.block(table{
		"in_flight": number(&s.InFlight, maxInFlight),
		"latency":   duration(&s.Latency, leastLatency),
		"first": func(name string, values []string) error {
			p.checkNames(s.CheckFirst)
			return list(&s.First)(name, values)
		},
	}, nil)
	if err != nil {
		return err
	}
	return place(&head, s.check())
}
