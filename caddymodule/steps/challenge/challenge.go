// Package challenge tells browsers from disguised robots while strangers storm pages:
// while many addresses request a document of certain paths and nothing else, a client
// without a pass gets a page that a browser passes by itself. Below that nobody notices
// anything.
//
// A Memory outlives a configuration and has the keys, what is remembered of clients, and a
// Storm for each origin. A Check is what the step Challenge does for a handler: Strip takes the
// parameter and the cookie from a request before the handler decides, decide comes after that,
// Answer if the request is answered here, and End when it is known what it was. The step Storms
// watches all other pages.
//
// Tokens and passes are stateless, and signed: see token.go. What is counted is bounded,
// and holds keyed hashes of addresses.
package challenge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(Challenge))
	caddy.RegisterModule(new(Storms))
}

// Defaults and bounds of Challenge.
const (
	defaultOver     = "60/1m"
	defaultPassFor  = 4 * time.Hour
	leastOverPeriod = 10 * time.Second
	mostOverPeriod  = 10 * time.Minute
	leastPassFor    = 10 * time.Minute
	mostPassFor     = 24 * time.Hour
)

// disallowed stands for the paths that robots.txt disallows.
const disallowed = "disallowed"

// Challenge asks strangers to show that they are browsers, while many addresses request a page
// of some paths and nothing else. Default: off.
//
//	challenge /blame/* /search* {
//		over 60/1m
//		for 4h
//		trap /calendar-all/*
//	}
type Challenge struct {
	// The paths of pages, as patterns in robots.txt syntax. `disallowed` alone stands for those
	// that robots.txt and `policy` disallow to `*`; but for no `hidden` path, and not for the
	// whole site (write `/*`).
	Paths []string `json:"paths,omitempty"`

	// How many pages of these paths lone addresses may request together, before strangers are
	// asked. The time is from 10s to 10m. Default: `60/1m`.
	Over string `json:"over,omitempty"`

	// Whether strangers are asked without a storm too. Default: off.
	Always *bool `json:"always,omitempty"`

	// The folder of trap URLs, such as `/calendar-all/*`. Default: none.
	Trap string `json:"trap,omitempty"`

	// Names of crawlers, addresses and CIDR ranges that are never asked. Any client can send a
	// name: prefer addresses. Default: none.
	Except []string `json:"except,omitempty"`

	// How long the cookie is good, from 10m to 24h. Default: 4h.
	For caddy.Duration `json:"for,omitempty"`

	*Check // nil before Join
	site   step.Site
	shared.User
}

// CaddyModule returns the Caddy module information.
func (*Challenge) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.challenge", New: func() caddy.Module { return new(Challenge) }}
}

// Info implements step.Step.
func (*Challenge) Info() step.Info {
	return step.Info{
		Stage: step.Check, NeedsResponse: true, Enforces: true,
		Matches: []string{"stranger"}, Placeholders: []string{referencePlaceholder, trapPlaceholder},
		Logged: []string{referencePlaceholder},
	}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	challenge <paths...> | disallowed {
//		over   <number>/<duration>
//		for    <duration>
//		trap   <path>
//		always [on|off]
//		except <names and addresses...>
//	}
func (c *Challenge) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	head, paths := *d, d.RemainingArgs()
	c.Paths = paths
	p := lines.Parser{Dispenser: d}
	block := lines.Table{
		"over": lines.Text(&c.Over), "for": lines.Duration(&c.For, leastPassFor), "trap": lines.Text(&c.Trap), "always": lines.OnOff(&c.Always),
		"except": lines.List(&c.Except),
	}
	if err := p.Block(block, nil); err != nil {
		return err
	}
	_, err := c.config()
	return lines.Place(&head, err)
}

// isDisallowed reports whether the paths are those that robots.txt disallows.
func (c *Challenge) isDisallowed() bool { return len(c.Paths) == 1 && c.Paths[0] == disallowed }

// config converts the settings to those of a Check.
func (c *Challenge) config() (s Config, err error) {
	s = Config{name: c.String(), passFor: cmp.Or(time.Duration(c.For), defaultPassFor), always: c.Always != nil && *c.Always}
	switch {
	case len(c.Paths) == 0:
		return s, errors.New("challenge needs the paths of pages, such as challenge /blame/* /search*, or the word disallowed")
	case !c.isDisallowed() && slices.Contains(c.Paths, disallowed):
		return s, errors.New("challenge: write either disallowed or patterns of paths")
	case s.passFor < leastPassFor || s.passFor > mostPassFor:
		return s, fmt.Errorf("challenge for %s is not between %s and %s", s.passFor, leastPassFor, mostPassFor)
	case !c.isDisallowed():
		s.paths, err = judge.PathGroup(c.Paths)
		if err != nil {
			return s, lines.About("challenge:", err)
		}
	}
	for _, except := range c.Except {
		from, err := caddyhttp.CIDRExpressionToPrefix(except)
		if err != nil {
			s.names = append(s.names, except)
			continue
		}
		s.from = append(s.from, from.Masked())
	}
	over, err := throttle.ParseRate(cmp.Or(c.Over, defaultOver))
	s.over, s.window = over.Requests, over.Per
	switch {
	case err != nil:
		return s, fmt.Errorf("challenge over: %w", err)
	case s.window < leastOverPeriod || s.window > mostOverPeriod:
		return s, fmt.Errorf("challenge over %s: the time is not between %s and %s", c.Over, leastOverPeriod, mostOverPeriod)
	case c.Trap != "":
		s.trap, err = ParseTrap(c.Trap)
	}
	return s, lines.About("challenge", err)
}

// CheckNames implements step.Named.
func (c *Challenge) CheckNames(registry *crawler.Registry) error {
	settings, err := c.config()
	if err != nil {
		return err
	}
	return registry.CheckNames("challenge except", settings.names...)
}

// String returns the line of the configuration, such as `challenge /blame/*`.
func (c *Challenge) String() string { return "challenge " + strings.Join(c.Paths, " ") }

// Join implements step.Step. What is counted outlives a reload.
func (c *Challenge) Join(site step.Site) error {
	settings, err := c.config()
	if err != nil {
		return err
	}
	c.site, settings.busy, settings.page = site, site.IsBusy, builtin
	settings.mark, err = site.Page("challenge", func(text []byte) (err error) {
		settings.page, err = NewPage(text)
		return err
	})
	if err != nil {
		return err
	}
	memory := NewMemory()
	if site.IsLog {
		memory.keysFailed.Store(new(error)) // as if it was looked for keys
	} else {
		memory = shared.Use(&c.User, "challenge", NewMemory)
	}
	c.Check = New(memory, settings, site.Key)
	c.place.File, c.place.Line = site.File, site.Line
	return nil
}

// Start implements step.Starter: the keys of passes are exchanged from now on, once for all
// handlers of a configuration.
func (c *Challenge) Start() {
	storage, store := c.site.Storage(), c.site.Store()
	shared.Use(&c.User, fmt.Sprintf("challenge keys %p %p", storage, store), func() *keeper {
		return c.memory.keep(storage, store, c.site.Log.Named("challenge"))
	})
}

// Needs implements step.Replayer.
func (*Challenge) Needs() step.Needs {
	return step.Needs{Unknown: "who has a pass or is known to the site, so that more browsers are asked in the audit than would be"}
}

// Places implements step.Placed.
func (c *Challenge) Places() []*judge.Place { return []*judge.Place{c.place} }

// Names of placeholders.
const (
	referencePlaceholder = "reference"
	trapPlaceholder      = "trap"
)

// Record implements step.Recorder. A request without placeholders allocates nothing.
func (c *Challenge) Record(x *step.Exchange) func(string) (string, bool) {
	page, dest := c.slot.Of(x).page, destination(x.HTTP)
	mayTrap := c.trap != "" && (dest == "" || dest == "document" || dest == "empty")
	if page.at == 0 && !mayTrap {
		return nil
	}
	q, rules := x.Request, x.Decision.Rules
	return func(name string) (string, bool) {
		switch {
		case name == referencePlaceholder && page.at != 0:
			return page.reference(), true
		case name == trapPlaceholder && mayTrap:
			return c.TrapURL(&q, rules), true
		}
		return "", name == trapPlaceholder || name == referencePlaceholder
	}
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Challenge)(nil)
	_ step.Step          = (*Challenge)(nil)
	_ step.Starter       = (*Challenge)(nil)
	_ step.Named         = (*Challenge)(nil)
	_ step.Placed        = (*Challenge)(nil)
	_ step.Switch        = (*Challenge)(nil)
	_ step.Stripper      = (*Challenge)(nil)
	_ step.Replayer      = (*Challenge)(nil)
	_ step.Answerer      = (*Challenge)(nil)
	_ step.Responder     = (*Challenge)(nil)
	_ step.Ender         = (*Challenge)(nil)
	_ step.Recorder      = (*Challenge)(nil)
	_ step.Fitter        = (*Challenge)(nil)
	_ step.Diagnoser     = (*Challenge)(nil)
	_ step.Explainer     = (*Challenge)(nil)
)
