// Package fleet shares what several servers count and know in Redis or Valkey: budgets, keys
// of passes, and the counts of requests.
package fleet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func init() {
	caddy.RegisterModule(new(Fleet))
}

// Bounds of Fleet. Requests wait for as long as the deadline.
const (
	maxInstances = 10_000
	maxDeadline  = time.Second
)

// Fleet shares the budgets of several servers in Redis or Valkey, version 6 or later.
// Default: each server counts for itself.
//
//	fleet rediss://10.0.0.5:6379 {
//		instances 4
//	}
type Fleet struct {
	// `redis://[[user]:password@]host[:port][/database]`, `rediss://…` with TLS and a certificate that the system trusts,
	// `unix:///path/to/socket`, or the same with `valkey`. The default port is 6379. Query
	// parameters: `addr=host:port`, for each further node of a cluster or Sentinel;
	// `master_set=name`, for Sentinels, with `sentinel_username` and `sentinel_password`;
	// `db=number`; `skip_verify=true`, to accept any TLS certificate. Placeholders, such as
	// `{env.REDIS_PASSWORD}`, are replaced. Required.
	URL string `json:"url,omitempty"`

	// The number of servers, from 1 to 10000: while Redis can't be reached, each counts alone,
	// with intervals that are so many times as long. Default: 1.
	Instances int `json:"instances,omitempty"`

	// How the keys begin; servers with the same prefix share their budgets. In a cluster, a
	// part in braces (`{robots}:`) puts all keys on one master. Default: `robots:`.
	Prefix string `json:"prefix,omitempty"`

	// The longest time for which a request waits for Redis, from 1ms to 1s. Default: 25ms.
	Deadline caddy.Duration `json:"deadline,omitempty"`

	site  step.Site
	redis *redis
	shared.User
}

// CaddyModule returns the Caddy module information.
func (*Fleet) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.fleet", New: func() caddy.Module { return new(Fleet) }}
}

// Info implements step.Step.
func (*Fleet) Info() step.Info {
	return step.Info{}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	fleet <url> {
//		instances <number>
//		prefix    <text>
//		deadline  <duration>
//	}
func (f *Fleet) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	head := *d
	p := lines.Parser{Dispenser: d}
	parse := lines.One(func(_, url string) error {
		f.URL = url
		return p.Block(lines.Table{
			"instances": lines.Number(&f.Instances, maxInstances),
			"prefix":    lines.Text(&f.Prefix),
			"deadline":  lines.Duration(&f.Deadline, time.Millisecond),
		}, f.check)
	})
	return lines.Place(&head, parse(d.Val(), d.RemainingArgs()))
}

// check returns an error for values that can't be used.
func (f *Fleet) check() error {
	switch {
	case f.URL == "":
		return errors.New("fleet: the URL of Redis or Valkey is missing")
	case f.Instances < 0 || f.Instances > maxInstances:
		return fmt.Errorf("fleet instances %d is not between 1 and %d", f.Instances, maxInstances)
	case f.Deadline < 0 || time.Duration(f.Deadline) > maxDeadline:
		return fmt.Errorf("fleet deadline %s is not between 1ms and %s", time.Duration(f.Deadline), maxDeadline)
	}
	if _, tag, found := strings.Cut(f.Prefix, "{"); found && strings.Index(tag, "}") < 1 {
		return fmt.Errorf("fleet prefix %q has a { without a name and a } after it", f.Prefix)
	}
	if strings.Contains(f.URL, "{") {
		return nil // a placeholder
	}
	_, err := parseURL(f.URL)
	return err
}

// Join implements step.Step. It uses no network. The connection outlives a reload with equal
// settings.
func (f *Fleet) Join(site step.Site) error {
	f.site = site
	if err := f.check(); err != nil {
		return err
	}
	address, err := lines.Replace(f.URL)
	if err != nil {
		return err
	}
	option, err := parseURL(address)
	if err != nil {
		return err
	}
	c := config{ClientOption: option, Prefix: f.Prefix, Instances: f.Instances, Deadline: time.Duration(f.Deadline)}
	key := fmt.Sprintf("fleet:%q %q %d %d", address, c.Prefix, c.Instances, c.Deadline)
	f.redis = shared.Use(&f.User, key, func() *redis { return newRedis(c, site.Budgets) })
	return nil
}

// Limiter implements step.Sharer.
func (f *Fleet) Limiter() throttle.Limiter { return f.redis }

// Store implements step.Sharer.
func (f *Fleet) Store() step.Store { return f.redis }

// Start implements step.Starter: it connects.
func (f *Fleet) Start() { f.redis.start(f) }

// Cleanup releases the connection.
func (f *Fleet) Cleanup() error {
	if f.redis == nil {
		return nil
	}
	f.redis.leave(f)
	return f.User.Cleanup()
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Fleet)(nil)
	_ step.Step          = (*Fleet)(nil)
	_ step.Starter       = (*Fleet)(nil)
	_ step.Sharer        = (*Fleet)(nil)
	_ step.Viewer        = (*Fleet)(nil)
	_ step.Diagnoser     = (*Fleet)(nil)
)
