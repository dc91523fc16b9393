// Package fake has what tests of the engine share: clocks, sources and User-Agents.
package fake

import (
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Clock is a clock that tests set.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

func NewClock() *Clock { return &Clock{t: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)} }

func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

var Home = judge.Origin{Scheme: "https", Host: "example.com"}
