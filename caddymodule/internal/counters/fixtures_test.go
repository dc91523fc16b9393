package counters

import (
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// testClock is a clock that tests advance.
type testClock struct{ unix atomic.Int64 }

func newTestClock() *testClock {
	c := new(testClock)
	c.unix.Store(time.Date(2026, 11, 21, 14, 30, 10, 0, time.UTC).Unix())
	return c
}

func (c *testClock) now() time.Time      { return time.Unix(c.unix.Load(), 0).UTC() }
func (c *testClock) add(d time.Duration) { c.unix.Add(int64(d / time.Second)) }
func (c *testClock) request() *Request {
	return &Request{Time: c.now(), Origin: origin, Method: "GET", Target: "/private/x?secret=1", Client: "192.0.2.77", UserAgents: []string{"GPTBot/1.2"}}
}
func (c *testClock) requestTo(h string) *Request {
	r := c.request()
	r.Origin.Host = h
	return r
}

var (
	origin  = judge.NewOrigin("https", "example.com", 443)
	file1   = robots.Parse([]byte("User-agent: *\nDisallow: /private/\nAllow: /private/x\nCrawl-delay: 10\n"))
	gptbot  = crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("GPTBot"), Token: "GPTBot"}
	goodbot = crawler.Agent{Class: crawler.SelfDeclared, Token: "GoodBot"}
)

func decision(a crawler.Agent, why judge.Reason) *judge.Decision {
	d := &judge.Decision{Action: why.Info().Action, Reason: why, Subject: judge.Subject{Agent: a}}
	switch why {
	case judge.Disallowed:
		d.Group, d.Rule, d.Layer, d.Line = file1.Star(), file1.Star().Rules()[0], judge.FileLayer, 2
	case judge.CrawlDelay:
		d.Group, d.Layer, d.Line, d.RetryAfter = file1.Star(), judge.FileLayer, 4, 9500*time.Millisecond
	case managed.HiddenReason:
		d.Layer, d.Line = managed.HiddenLayer, 12
	}
	return d
}

func crawlersByName(c *Counters, scope statusapi.Scope) map[string]*statusapi.Crawler {
	list := c.View(scope, statusapi.SpanHour).Crawlers
	found := make(map[string]*statusapi.Crawler)
	for _, one := range list {
		found[one.Name] = one
	}
	return found
}
