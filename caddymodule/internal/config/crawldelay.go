package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
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

var countBy = lines.Choices{"crawler", countByIP}

// CrawlDelay configures how Crawl-delay, Request-rate and Visit-time are enforced.
//
// A request must pass the shortest Crawl-delay of the crawler's group, all Request-rate
// lines, and one of the Visit-time lines.
type CrawlDelay struct {
	// The longest interval that is enforced. Default: 24h.
	Max caddy.Duration `json:"max,omitempty"`

	// The number of requests that may come at once, from 1 to 1000. Default: 1, and 10 for
	// previews, feeds and image proxies under the group for `*`.
	Burst int `json:"burst,omitempty"`

	// The largest number of budgets (64 bytes each) of the process, from 1 to 10000000.
	// Default: 100000.
	MaxEntries int `json:"max_entries,omitempty"`

	// `crawler`: one budget for all addresses of a crawler. `ip`: one for each (IPv4 /32, IPv6
	// /64). Default: `crawler`.
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
	if err := lines.NoValues("crawl_delay", args); err != nil {
		return fmt.Errorf("%w; the delay itself is a line of robots.txt", err)
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
