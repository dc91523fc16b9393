package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// maxAtOnce bounds the requests at once of a Limit.
const maxAtOnce = 1_000_000

// Limit limits what crawlers request together, on some paths or on the whole site.
//
// One of `all`, `each`, `at_once` and `each_at_once` is needed. A request over the limit
// gets 429 and uses no other budget. The limit holds crawlers that a group applies to, or
// that the group for `*` would apply to if there were one; never browsers, webhooks,
// probes and what is exempt. Search engines and ads are held only with `include`, because
// a search engine that gets 429 crawls the whole host less. All hosts of a site block
// share the budgets, and in a `fleet` all servers those of `all` and `each`.
type Limit struct {
	// The paths, as patterns in robots.txt syntax. Default: the whole site.
	Paths []string `json:"paths,omitempty"`

	// The hosts of the site block that the limit is for, in lower case. Default: all.
	Hosts []string `json:"hosts,omitempty"`

	// The rate of all crawlers together, such as `30/1m`: 30 requests in a minute (s, m,
	// h), of which a tenth, rounded up, may come at once, and each half an interval early.
	// Names that neither the registry nor a group of robots.txt has get at most half of it
	// together, while others come: as long as one came to this server in the time of the rate,
	// or the last minute. One greedy crawler can use it up for all: `each` prevents this.
	// Default: no limit.
	All string `json:"all,omitempty"`

	// The rate of each crawler; for software that anyone runs, and with `per ip`, of each
	// client address. Default: no limit.
	Each string `json:"each,omitempty"`

	// How many requests of all crawlers together may be in flight on this server, until
	// their answers are sent. While others come, no crawler gets more than half of them,
	// rounded up; names that are neither verified nor known share one half. The body of a
	// crawler's request is read first: at most 64 KiB, within 2 seconds, otherwise the
	// answer is 413 or 408. Default: no limit.
	AtOnce int `json:"at_once,omitempty"`

	// The same for each crawler. Default: no limit.
	EachAtOnce int `json:"each_at_once,omitempty"`

	// Purposes and crawlers that the limit does not hold. A name counts more than a
	// purpose, and `except` more than `include`. Default: none.
	Except []string `json:"except,omitempty"`

	// Of the purposes `search` and `ads`, their crawlers, and those of `except`, the ones
	// that the limit holds. The verified ones share a budget, and so do those that only
	// claim to be one (without `verify`, all). Neither is that of the other crawlers.
	// Default: none.
	Include []string `json:"include,omitempty"`

	// The name of the configuration file that has the limit, and the line. Refusals
	// are shown with these. Default: none.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// Name returns the beginning of the text of the limit's lines, as decisions have it.
func (l *Limit) Name() string { return strings.Join(append([]string{"limit"}, l.Paths...), " ") + ":" }

// engine converts the limit to the engine's.
func (l *Limit) engine() (judge.Limit, error) {
	all, err1 := lines.ParseRate(l.All)
	each, err2 := lines.ParseRate(l.Each)
	return judge.Limit{
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
		if host != strings.ToLower(host) || routes.IsPattern(host) || checkHost(host) != nil {
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

// checkLimits returns an error for limits that can't be used.
func (s *Settings) checkLimits() error {
	if len(s.Limits) > judge.MaxLimits {
		return fmt.Errorf("there are %d limits: at most %d are possible", len(s.Limits), judge.MaxLimits)
	}
	for i := range s.Limits {
		l := &s.Limits[i]
		if err := l.check(); err != nil {
			return lines.About("limit:", err)
		}
		paths := strings.Join(l.Paths, " ")
		isHeld := func(path string) bool { return !slices.Contains(s.exemptPaths(), path) && path != "/robots.txt" }
		if len(l.Paths) > 0 && !slices.ContainsFunc(l.Paths, isHeld) {
			return fmt.Errorf("limit %s never holds a request, because its paths are exempt", paths)
		}
		for _, other := range s.Limits[:i] {
			if slices.Equal(l.scope(), other.scope()) {
				return fmt.Errorf("limit is given twice for %s: write one block with the lines of both", cmp.Or(paths, "the whole site"))
			}
		}
	}
	return nil
}

// checkNames returns an error for a name that the registry does not have, and for
// one to include that the limit holds anyway.
func (l *Limit) checkNames(registry *crawler.Registry) error {
	if err := cmp.Or(registry.CheckNames("except", l.Except...), registry.CheckNames("include", l.Include...)); err != nil {
		return lines.About("limit:", err)
	}
	for _, name := range l.Include {
		row := registry.Lookup(name)
		if slices.Contains(registry.Purposes(), crawler.Purpose(name)) {
			row = &crawler.Crawler{Purposes: []crawler.Purpose{crawler.Purpose(name)}}
		}
		if !slices.ContainsFunc(row.Purposes, func(p crawler.Purpose) bool {
			return p == crawler.Search || p == crawler.Ads || slices.Contains(l.Except, string(p))
		}) {
			return fmt.Errorf("limit: include %s has no effect: "+
				"without include, all crawlers are held but those of the purposes search and ads, and those of except", name)
		}
	}
	return nil
}

// limit parses the block limit.
func (p *parser) limit(_ string, paths []string) error {
	if err := lines.InBlockOrRate("limit", "all", paths); err != nil {
		return err
	}
	head, l := p.Head, &Limit{Paths: paths}
	l.File, l.Line = filepath.Base(head.File()), head.Line()
	rate := func(field *string) lines.Line {
		return lines.One(func(name, value string) error {
			if _, err := lines.ParseRate(value); err != nil || value == "" {
				return fmt.Errorf("%s: %q is not a rate: write it as 30/1m", name, value)
			}
			*field = value
			return nil
		})
	}
	names := func(field *[]string) lines.Line {
		return func(name string, values []string) error {
			p.checkNames(l.checkNames)
			return lines.List(field)(name, values)
		}
	}
	err := p.Block(lines.Table{
		"all": rate(&l.All), "each": rate(&l.Each),
		"at_once": lines.Number(&l.AtOnce, maxAtOnce), "each_at_once": lines.Number(&l.EachAtOnce, maxAtOnce),
		"hosts": lines.List(&l.Hosts), "except": names(&l.Except), "include": names(&l.Include),
	}, nil)
	if err != nil {
		return err
	}
	p.settings.Limits = append(p.settings.Limits, *l)
	return lines.Place(&head, p.settings.checkLimits())
}

// DefaultBudgets is the default of CrawlDelay.MaxEntries.
const DefaultBudgets = 100_000

// Bounds of CrawlDelay.
const (
	maxBurst   = 1000
	maxBudgets = 10_000_000
)

// countByIP is the value of CrawlDelay.Per that is not the default.
const countByIP = "ip"

var countBy = lines.Choices{"crawler", countByIP}

// CrawlDelay configures how Crawl-delay, Request-rate and Visit-time are
// enforced.
//
// A request must pass the shortest Crawl-delay of the crawler's group, all Request-rate
// lines, and one of the Visit-time lines. A refused request gets 429 with Retry-After, and
// does not count. Networks deliver requests irregularly, so intervals are enforced as 0.9
// of their length, and a request may come half an interval early.
type CrawlDelay struct {
	// The longest interval that is enforced: a longer one counts as this long. Default:
	// 24h.
	Max caddy.Duration `json:"max,omitempty"`

	// The number of requests that may come at once, from 1 to 1000. Default: 1, and 10 for
	// previews, feeds and image proxies under the group for `*`.
	Burst int `json:"burst,omitempty"`

	// The largest number of budgets that the process keeps, of 64 bytes each, from 1 to
	// 10000000; of several sites, the largest value applies. Default: 100000.
	MaxEntries int `json:"max_entries,omitempty"`

	// `crawler`: one budget for all addresses of a crawler. `ip`: one for each of its
	// addresses (IPv4 /32, IPv6 /64), so that 500 addresses have 500, as software that
	// anyone runs always has. Default: `crawler`.
	Per string `json:"per,omitempty"`
}

// check returns an error for values that can't be used. A nil c has none.
func (c *CrawlDelay) check() error {
	switch {
	case c == nil:
		return nil
	case c.Max < 0:
		return errors.New("crawl_delay max is negative")
	case c.Burst < 0 || c.Burst > maxBurst:
		return fmt.Errorf("crawl_delay burst %d is not between 1 and %d", c.Burst, maxBurst)
	case c.MaxEntries < 0 || c.MaxEntries > maxBudgets:
		return fmt.Errorf("crawl_delay max_entries %d is not between 1 and %d", c.MaxEntries, maxBudgets)
	}
	return countBy.Check("crawl_delay per", c.Per)
}

// crawlDelay parses the block crawl_delay.
func (p *parser) crawlDelay(_ string, args []string) error {
	if err := lines.OnlyBlock("crawl_delay", args, "; the delay itself is a line of robots.txt"); err != nil {
		return err
	}
	c := new(CrawlDelay)
	p.settings.CrawlDelay = c
	return p.Block(lines.Table{
		"max":         lines.Duration(&c.Max, time.Millisecond),
		"burst":       lines.Number(&c.Burst, maxBurst),
		"max_entries": lines.Number(&c.MaxEntries, maxBudgets),
		"per":         lines.Choice(&c.Per, countBy),
	}, c.check)
}
