package caddymodule

import (
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Bounds of CrawlDelay.
const (
	maxWait     = throttle.MaxWait
	maxBurst    = 1000
	maxEntries  = 100_000    // budgets held by the process, by default
	mostEntries = 10_000_000 // and at most
)

// CrawlDelay configures how Crawl-delay, Request-rate and Visit-time are
// enforced.
type CrawlDelay struct {
	// A longer Crawl-delay is enforced as this. Default: 24h.
	Max caddy.Duration `json:"max,omitempty"`

	// Hold a request up to this long until its time has come, in place of
	// a 429. At most 10m. Default: 0s.
	Wait caddy.Duration `json:"wait,omitempty"`

	// How many requests may come at once, as long as the Crawl-delay is kept on
	// average. Default: 1.
	Burst int `json:"burst,omitempty"`

	// How many budgets the process holds, for all sites: the largest value of a
	// site counts. If there are more, those that would be free soonest are
	// forgotten. Default: 100000.
	MaxEntries int `json:"max_entries,omitempty"`

	// How budgets are counted: `crawler`, one for each crawler, across its
	// addresses; or `ip`, one for each client address of each crawler. HTTP
	// libraries, which many people use, always have one for each address (IPv4
	// /32, IPv6 /64). Default: `crawler`.
	Per string `json:"per,omitempty"`
}

func (c *CrawlDelay) validate() error {
	switch {
	case c.Max < 0:
		return errors.New("crawl_delay max is negative")
	case c.Wait < 0 || time.Duration(c.Wait) > maxWait:
		return fmt.Errorf("crawl_delay wait %s is not between 0s and %s", time.Duration(c.Wait), maxWait)
	case c.Burst < 0 || c.Burst > maxBurst:
		return fmt.Errorf("crawl_delay burst %d is not between 1 and %d", c.Burst, maxBurst)
	case c.MaxEntries < 0 || c.MaxEntries > mostEntries:
		return fmt.Errorf("crawl_delay max_entries %d is not between 1 and %d", c.MaxEntries, mostEntries)
	}
	return oneOf("crawl_delay per", c.Per, "", countByCrawler, countByIP)
}
