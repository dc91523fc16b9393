package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// DefaultBudgets is the default of CrawlDelay.MaxEntries.
const DefaultBudgets = 100_000

// Bounds of CrawlDelay.
const (
	maxBurst   = 1000
	maxBudgets = 10_000_000
)

// countByIP is the value of CrawlDelay.Per that is not the default.
const countByIP = "ip"

var countBy = choices{"crawler", countByIP}

// CrawlDelay configures how Crawl-delay, Request-rate and Visit-time are
// enforced. Networks deliver requests too early or too late, so a crawler may be
// faster than its limit by a tenth, and a single request may come half an
// interval early.
type CrawlDelay struct {
	// The longest Crawl-delay that is enforced, at most 366 days. A longer one in
	// robots.txt counts as this long. Default: 24h.
	Max caddy.Duration `json:"max,omitempty"`

	// The longest time for which the handler holds a request that comes too
	// soon or outside Visit-time, until it is allowed. A request that would
	// have to wait longer gets 429 at once. From 0s to 10m. Default: 0s, so
	// that no request is held.
	Wait caddy.Duration `json:"wait,omitempty"`

	// The number of requests that a crawler may send at once, if it keeps the
	// Crawl-delay on average. From 1 to 1000. Default: 1.
	Burst int `json:"burst,omitempty"`

	// The largest number of budgets in the memory of this server, for all sites
	// together, from 1 to 10000000. One takes about 64 octets. If sites have
	// different values, the largest one applies. If there is no room, the server
	// drops another budget: if it can, one that clients can invent, such as the
	// budget of a single address, and the one that is unused soonest. A crawler
	// with a dropped budget starts again with an unused one. Default: 100000.
	MaxEntries int `json:"max_entries,omitempty"`

	// How budgets are counted. `crawler`: each crawler has one budget for all its
	// addresses. `ip`: each client address of a crawler (IPv4 /32, IPv6 /64) has
	// its own budget, so that a crawler with 500 addresses has 500 budgets.
	// Software that anyone runs, such as HTTP libraries, is always counted by
	// address. Default: `crawler`.
	Per string `json:"per,omitempty"`
}

// check returns an error for values that can't be used. A nil c has none.
func (c *CrawlDelay) check() error {
	switch {
	case c == nil:
		return nil
	case c.Max < 0:
		return errors.New("crawl_delay max is negative")
	case c.Wait < 0 || time.Duration(c.Wait) > throttle.MaxWait:
		return fmt.Errorf("crawl_delay wait %s is not between 0s and %s", time.Duration(c.Wait), throttle.MaxWait)
	case c.Burst < 0 || c.Burst > maxBurst:
		return fmt.Errorf("crawl_delay burst %d is not between 1 and %d", c.Burst, maxBurst)
	case c.MaxEntries < 0 || c.MaxEntries > maxBudgets:
		return fmt.Errorf("crawl_delay max_entries %d is not between 1 and %d", c.MaxEntries, maxBudgets)
	}
	return countBy.check("crawl_delay per", c.Per)
}

// crawlDelay parses
//
//	crawl_delay {
//		max   <duration>
//		wait  <duration>
//		burst <number>
//		per   crawler | ip
//		max_entries <number>
//	}
func (p *parser) crawlDelay(_ string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("crawl_delay: unexpected %q: write its options in a block", args[0])
	}
	c := new(CrawlDelay)
	p.settings.CrawlDelay = c
	return p.block(table{
		"max":         duration(&c.Max, time.Millisecond),
		"wait":        duration(&c.Wait, 0),
		"burst":       number(&c.Burst, 1, maxBurst),
		"max_entries": number(&c.MaxEntries, 1, maxBudgets),
		"per":         choice(&c.Per, countBy),
	}, c.check)
}
