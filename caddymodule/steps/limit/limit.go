package limit

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxAtOnce bounds the requests at once of a Limit.
const maxAtOnce = 1_000_000

// Limit is one limit.
type Limit struct {
	// The paths, as patterns in robots.txt syntax. Default: the whole site.
	Paths []string `json:"paths,omitempty"`

	// The hosts of the site block that the limit is for, in lower case. Default: all.
	Hosts []string `json:"hosts,omitempty"`

	// The rate of all crawlers together, such as `30/1m`: 30 requests in a minute (s, m,
	// h), of which a tenth, rounded up, may come at once. Names that nobody knows get at
	// most half of it while others come. One greedy crawler can use it up for all: `each`
	// prevents this. Default: no limit.
	All string `json:"all,omitempty"`

	// The rate of each crawler; for software that anyone runs, and with `per ip`, of each
	// client address. Default: no limit.
	Each string `json:"each,omitempty"`

	// How many requests of all crawlers together may be in flight on this server, until
	// their answers are sent. While others come, no crawler gets more than half of them.
	// The body of a crawler's request is read first: at most 64 KiB, within 2 seconds,
	// otherwise the answer is 413 or 408. Default: no limit.
	AtOnce int `json:"at_once,omitempty"`

	// The same for each crawler. Default: no limit.
	EachAtOnce int `json:"each_at_once,omitempty"`

	// Purposes and crawlers that the limit does not hold. A name counts more than a
	// purpose, and `except` more than `include`. Default: none.
	Except []string `json:"except,omitempty"`

	// Of the purposes `search` and `ads`, their crawlers, and those of `except`, the ones
	// that the limit holds. The verified ones share a budget of their own, and so do the
	// others. Default: none.
	Include []string `json:"include,omitempty"`

	// The name of the configuration file that has the limit, and the line. Refusals
	// are shown with these. Default: none.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`

	named map[string]*caddyfile.Dispenser // the lines that name crawlers, in a Caddyfile
}

// engine converts the limit to that of package limits.
func (l *Limit) engine() (limits.Limit, error) {
	all, err1 := lines.ParseRate(l.All)
	each, err2 := lines.ParseRate(l.Each)
	return limits.Limit{
		Paths: l.Paths, Hosts: l.Hosts, All: all, Each: each, AtOnce: l.AtOnce, EachAtOnce: l.EachAtOnce, Except: l.Except, Include: l.Include,
		File: l.File, Line: l.Line,
	}, cmp.Or(err1, err2)
}

// check returns an error for a limit that can't be used, or limits nothing.
func (l *Limit) check() error {
	e, err := l.engine()
	for _, path := range l.Paths {
		err = cmp.Or(err, judge.CheckPathPattern(path))
	}
	names := slices.Concat(l.Except, l.Include)
	for i, name := range names {
		if words.ContainsFold(names[:i], name) {
			err = cmp.Or(err, fmt.Errorf("%s is named twice", name))
		}
	}
	for _, host := range l.Hosts {
		if host != strings.ToLower(host) || !counters.IsHostName(host) {
			err = cmp.Or(err, fmt.Errorf("hosts %q: write a host name in lower case, such as shop.example.com", host))
		}
	}
	paths := slices.Compact(slices.Sorted(slices.Values(l.Paths)))
	switch {
	case err != nil:
		return err
	case len(paths) < len(l.Paths):
		return errors.New("a path is given twice")
	case l.All == "" && l.Each == "" && l.AtOnce == 0 && l.EachAtOnce == 0:
		return errors.New("it limits nothing: give a block with all, each, at_once or each_at_once, such as all 30/1m")
	case min(l.AtOnce, l.EachAtOnce) < 0 || max(l.AtOnce, l.EachAtOnce) > maxAtOnce:
		return fmt.Errorf("the requests at once are not from 1 to %d", maxAtOnce)
	case e.All.Requests > 0 && e.Each.Requests >= e.All.Requests && e.Each.Per <= e.All.Per:
		return fmt.Errorf("each %s limits nothing, because all %s is not more: give a lower rate", l.Each, l.All)
	case l.AtOnce > 0 && l.EachAtOnce >= l.AtOnce:
		return fmt.Errorf("each_at_once %d limits nothing, because at_once %d is not more: give a lower number", l.EachAtOnce, l.AtOnce)
	}
	return nil
}

// scope returns the same for limits with the same paths and hosts.
func (l *Limit) scope() []string {
	return slices.Concat(slices.Sorted(slices.Values(l.Paths)), []string{""}, slices.Sorted(slices.Values(l.Hosts)))
}

// check returns an error for limits that can't be used.
func (l *Limits) check() error {
	if len(l.Limits) == 0 || len(l.Limits) > limits.Max {
		return fmt.Errorf("there are %d limits: from 1 to %d are possible", len(l.Limits), limits.Max)
	}
	for i := range l.Limits {
		one := &l.Limits[i]
		if err := one.check(); err != nil {
			return lines.About("limit:", err)
		}
		for _, other := range l.Limits[:i] {
			if slices.Equal(one.scope(), other.scope()) {
				return fmt.Errorf("limit is given twice for %s: write one block with the lines of both",
					cmp.Or(strings.Join(one.Paths, " "), "the whole site"))
			}
		}
	}
	return nil
}

// CheckNames implements step.Named. One to include that the limit holds anyway is an error
// too.
func (l *Limits) CheckNames(registry *crawler.Registry) error {
	for i := range l.Limits {
		one := &l.Limits[i]
		for name, err := range map[string]error{
			"except": registry.CheckNames("except", one.Except...), "include": one.checkIncluded(registry),
		} {
			if err != nil && one.named[name] != nil {
				return lines.Place(one.named[name], lines.About("limit:", err))
			} else if err != nil {
				return lines.About("limit:", err)
			}
		}
	}
	return nil
}

// checkIncluded returns an error for a name in Include that has no effect.
func (l *Limit) checkIncluded(registry *crawler.Registry) error {
	if err := registry.CheckNames("include", l.Include...); err != nil {
		return err
	}
	for _, name := range l.Include {
		row := registry.Lookup(name)
		if slices.Contains(registry.Purposes(), crawler.Purpose(name)) {
			row = &crawler.Crawler{Purposes: []crawler.Purpose{crawler.Purpose(name)}}
		}
		if !slices.ContainsFunc(row.Purposes, func(p crawler.Purpose) bool {
			return p == crawler.Search || p == crawler.Ads || slices.Contains(l.Except, string(p))
		}) {
			return fmt.Errorf("include %s has no effect: "+
				"without include, all crawlers are held but those of the purposes search and ads, and those of except", name)
		}
	}
	return nil
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	limit [<patterns...>] {
//		all          <number>/<duration>
//		each         <number>/<duration>
//		at_once      <number>
//		each_at_once <number>
//		hosts        <hosts...>
//		except       <purposes and crawlers...>
//		include      <purposes and crawlers...>
//	}
func (l *Limits) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		head := *d
		if err := l.unmarshal(d); err != nil {
			return lines.Place(&head, err)
		}
	}
	return nil
}

// unmarshal adds one limit.
func (l *Limits) unmarshal(d *caddyfile.Dispenser) error {
	one := Limit{File: filepath.Base(d.File()), Line: d.Line(), Paths: d.RemainingArgs(), named: make(map[string]*caddyfile.Dispenser)}
	if err := lines.InBlockOrRate("limit", "all", one.Paths); err != nil {
		return err
	}
	rate := func(field *string) lines.Line {
		return lines.One(func(name, value string) error {
			if _, err := lines.ParseRate(value); err != nil || value == "" {
				return fmt.Errorf("%s: %q is not a rate: write it as 30/1m", name, value)
			}
			*field = value
			return nil
		})
	}
	p := lines.Parser{Dispenser: d}
	names := func(field *[]string) lines.Line {
		return func(name string, values []string) error {
			one.named[name] = new(*d)
			return lines.List(field)(name, values)
		}
	}
	err := p.Block(lines.Table{
		"all": rate(&one.All), "each": rate(&one.Each),
		"at_once": lines.Number(&one.AtOnce, maxAtOnce), "each_at_once": lines.Number(&one.EachAtOnce, maxAtOnce),
		"hosts": lines.List(&one.Hosts), "except": names(&one.Except), "include": names(&one.Include),
	}, nil)
	if err != nil {
		return err
	}
	l.Limits = append(l.Limits, one)
	return l.check()
}
