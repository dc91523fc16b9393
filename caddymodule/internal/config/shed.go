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
)

// Bounds of Shed.
const (
	maxInFlight  = 1_000_000
	leastLatency = 10 * time.Millisecond
	mostLatency  = 10 * time.Minute
)

// Shed refuses robots with 503 while the server is busy, so that people get their
// pages. It refuses one kind of robots after the other, as long as the load
// stays, and lets them through again when the load has ended. People, apps, HTTP
// libraries, programs, webhooks, probes, exempt crawlers and paths, requests that
// are no crawling, and /robots.txt are never refused. It needs `in_flight`,
// `latency` or both.
type Shed struct {
	// The number of requests of this handler, of people and robots together, that
	// may wait for their answer. A request waits until the header of its response
	// is sent. The server is busy while more requests wait. Default: any number;
	// then search engines are never refused.
	InFlight int `json:"in_flight,omitempty"`

	// The server is busy while more than one of ten pages takes longer than this
	// for people, of those in the last 10 seconds: from the request to the header
	// of the response, for GET requests that get an HTML document with status 200.
	// With fewer than 20 pages, there is no verdict. From 10ms to 10m. Default:
	// any time.
	Latency caddy.Duration `json:"latency,omitempty"`

	// The robots to refuse first: purposes of crawlers, `self-declared`, `ai-*`,
	// or `suspects`, which are otherwise never refused. The others follow in the
	// default order: `self-declared` and whatever has no place here, `ai-*`,
	// `seo`, `archive`, `preview`, `search`, and at last verified search engines.
	// A search engine loses at most a fifth of its requests, in at most 120
	// minutes of a day. Default: the default order.
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
			return fmt.Errorf("shed first: %s needs in_flight, because robots that bring people to the site are not refused for latency alone", name)
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
	known := shed.Names()
	for _, p := range managed.Purposes(registry) {
		known = append(known, string(p))
	}
	for _, name := range s.First {
		if !slices.Contains(known, name) {
			return fmt.Errorf("shed first %q: no crawler has this purpose%s", name, suggestion(name, slices.Values(known)))
		}
	}
	return nil
}

// Order returns the order in which robots are refused.
func (s *Shed) Order() *shed.Order { return shed.NewOrder(s.First, s.InFlight > 0) }

// shed parses
//
//	shed {
//		in_flight <number>
//		latency   <duration>
//		first     <purposes...>
//	}
func (p *parser) shed(_ string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("shed: unexpected %q: it takes its options in a block", args[0])
	}
	head, s := p.head, &Shed{File: filepath.Base(p.head.File()), Line: p.head.Line()}
	p.settings.Shed = s
	err := p.block(table{
		"in_flight": number(&s.InFlight, 1, maxInFlight),
		"latency":   duration(&s.Latency, leastLatency),
		"first": func(name string, values []string) error {
			p.checkNames(s.CheckFirst)
			p.checkLater(func() error {
				if slices.Contains(values, "suspects") && p.merged().Suspects == nil && !p.global {
					return errors.New("shed first: suspects needs the line suspects, which finds them")
				}
				return nil
			})
			return words(&s.First, nil)(name, values)
		},
	}, nil)
	if err != nil {
		return err
	}
	return place(&head, s.check())
}
