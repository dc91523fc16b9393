package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/challenge"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Defaults and bounds of Challenge.
const (
	defaultOver     = "60/1m"
	defaultPassFor  = 4 * time.Hour
	leastOverPeriod = 10 * time.Second
	mostOverPeriod  = 10 * time.Minute
	leastPassFor    = 10 * time.Minute
	mostPassFor     = 24 * time.Hour
	maxOver         = 100_000
)

// challengeDisallowed stands for the paths that robots.txt disallows.
const challengeDisallowed = "disallowed"

// Challenge asks strangers with a browser's User-Agent to show that they are browsers,
// while many addresses request a page of some paths and nothing else.
//
// A browser passes by itself, without a click, and gets a cookie that is good for these
// paths. Below the number in `over`, nobody notices anything. Crawlers that a rule binds,
// verified crawlers, probes and what is exempt are never asked. Clients that the site knew
// before go on at a person's pace. The other crawlers that clients name have what `over` allows.
type Challenge struct {
	// The paths of pages, as patterns in robots.txt syntax.
	Paths []string `json:"paths,omitempty"`

	// The paths that the group for `*` disallows, in the site's file and by `policy`, but
	// not a line that disallows the whole site, and no `hidden` line. Default: false.
	Disallowed bool `json:"disallowed,omitempty"`

	// How many pages of these paths addresses that request nothing else may request, all
	// together, before strangers are asked. The time is from 10s to 10m. Each server counts
	// its own. Default: `60/1m`.
	Over string `json:"over,omitempty"`

	// Whether strangers are asked always, and not only in a storm. Default: off.
	Always *bool `json:"always,omitempty"`

	// The folder of trap URLs, such as `/calendar-all/*`. It is used while every group of
	// robots.txt disallows it. The placeholder `{http.robots.trap}` is a URL below it: put
	// it into a link that people don't see. Who fetches it is asked for a day, storm or not.
	// Default: none.
	Trap string `json:"trap,omitempty"`

	// How long the cookie is good, from 10m to 24h. Default: 4h.
	For caddy.Duration `json:"for,omitempty"`

	// The name of the configuration file that has this setting, and the line. They are only
	// shown to operators.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Rate returns the number of Over.
func (c *Challenge) Rate() (rate robots.RequestRate, err error) {
	over := c.Over
	if over == "" {
		over = defaultOver
	}
	rate, err = lines.ParseRate(over)
	switch {
	case err != nil:
		return rate, fmt.Errorf("over: %w", err)
	case rate.Per < leastOverPeriod || rate.Per > mostOverPeriod:
		return rate, fmt.Errorf("over %s: the time is not between %s and %s", over, leastOverPeriod, mostOverPeriod)
	case rate.Requests > maxOver:
		return rate, fmt.Errorf("over %s is more than %d pages", over, maxOver)
	}
	return rate, nil
}

// PassFor returns how long a pass is good.
func (c *Challenge) PassFor() time.Duration {
	if c.For == 0 {
		return defaultPassFor
	}
	return time.Duration(c.For)
}

// check returns an error for values that can't be used. A nil c has none.
func (c *Challenge) check() error {
	if c == nil {
		return nil
	}
	for _, path := range c.Paths {
		if path == challengeDisallowed {
			return errors.New("challenge: write either disallowed or patterns of paths")
		}
		if err := judge.CheckPathPattern(path); err != nil {
			return lines.About("challenge:", err)
		}
	}
	switch f := time.Duration(c.For); {
	case len(c.Paths) == 0 && !c.Disallowed:
		return errors.New("challenge needs the paths of pages, such as challenge /blame/* /search*, or the word disallowed")
	case len(c.Paths) > 0 && c.Disallowed:
		return errors.New("challenge: write either disallowed or patterns of paths")
	case f != 0 && (f < leastPassFor || f > mostPassFor):
		return fmt.Errorf("challenge for %s is not between %s and %s", f, leastPassFor, mostPassFor)
	}
	_, rateErr := c.Rate()
	_, trapErr := c.TrapFolder()
	return lines.About("challenge", cmp.Or(rateErr, trapErr))
}

// TrapFolder parses Trap.
func (c *Challenge) TrapFolder() (challenge.Trap, error) {
	if c.Trap == "" {
		return "", nil
	}
	return challenge.ParseTrap(c.Trap)
}

// Engine converts the setting to the engine's.
func (c *Challenge) Engine() judge.Challenge {
	if c == nil {
		return judge.Challenge{}
	}
	set := judge.Challenge{Paths: c.Paths, Disallowed: c.Disallowed}
	set.Place = &judge.Place{Layer: challenge.Layer, File: c.File, Line: c.Line, Text: set.String()}
	return set
}

// challenge parses the line challenge, and its block.
func (p *parser) challenge(_ string, paths []string) error {
	if err := lines.InBlockOrRate("challenge", "over", paths); err != nil {
		return err
	}
	head, c := p.Head, new(Challenge)
	c.File, c.Line = filepath.Base(head.File()), head.Line()
	if len(paths) == 1 && paths[0] == challengeDisallowed {
		c.Disallowed = true
	} else {
		c.Paths = paths
	}
	p.settings.Challenge = c
	block := lines.Table{
		"over": lines.Text(&c.Over), "for": lines.Duration(&c.For, leastPassFor), "trap": lines.Text(&c.Trap), "always": lines.OnOff(&c.Always),
	}
	if err := p.Block(block, nil); err != nil {
		return err
	}
	return lines.Place(&head, c.check())
}
