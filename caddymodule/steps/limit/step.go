// Package limit is the step that bounds what crawlers request together, with enforce/limits.
package limit

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

func init() {
	caddy.RegisterModule(new(Limits))
}

// Limits says how much crawlers may request together, by at most 7 limits. A request must
// meet all that hold it. Default: no limit.
//
//	limit /archive/* /blame/* /*?sort= {
//		all 30/1m
//		each 10/1m
//		at_once 4
//		except archive
//	}
//
// One of `all`, `each`, `at_once` and `each_at_once` is needed. A request over the limit
// gets 429 and uses no other budget. The limit holds crawlers that a group applies to, or
// that the group for `*` would apply to if there were one, but no search engines and ads,
// because a 429 slows the whole host. All hosts of a site block share the budgets, and in a
// `fleet` all servers those of `all` and `each`.
type Limits struct {
	// The limits.
	Limits []limits.Limit `json:"limits"`

	shared.User
	heads []*caddyfile.Dispenser // the lines of Limits, in a Caddyfile
	set   *limits.Set
}

// CaddyModule returns the Caddy module information.
func (*Limits) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.limit", New: func() caddy.Module { return new(Limits) }}
}

// Info implements step.Step.
func (*Limits) Info() step.Info {
	return step.Info{
		Stage: step.Limit, Repeatable: true, Enforces: true,
	}
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
//	}
func (l *Limits) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		head := *d
		l.heads = append(l.heads, &head)
		if err := l.unmarshal(d); err != nil {
			return lines.Place(&head, err)
		}
	}
	return nil
}

// unmarshal adds one limit.
func (l *Limits) unmarshal(d *caddyfile.Dispenser) error {
	one := limits.Limit{File: filepath.Base(d.File()), Line: d.Line(), Paths: d.RemainingArgs()}
	p := lines.Parser{Dispenser: d}
	err := p.Block(lines.Table{
		"all": lines.Text(&one.All), "each": lines.Text(&one.Each),
		"at_once": lines.Number(&one.AtOnce, limits.MaxAtOnce), "each_at_once": lines.Number(&one.EachAtOnce, limits.MaxAtOnce),
		"hosts": lines.List(&one.Hosts), "except": lines.List(&one.Except),
	}, nil)
	if err != nil {
		return err
	}
	l.Limits = append(l.Limits, one)
	return l.compile(nil, nil)
}

// compile sets up the limits.
func (l *Limits) compile(hosts func() []string, turns *limits.Turns) (err error) {
	if len(l.Limits) == 0 {
		return errors.New("limits are missing")
	}
	for _, one := range l.Limits {
		for _, host := range one.Hosts {
			if !counters.IsHostName(host) {
				return fmt.Errorf("limit: hosts %q: write a host name in lower case, such as shop.example.com", host)
			}
		}
	}
	l.set, err = limits.New(l.Limits, hosts, turns)
	return err
}

// CheckNames implements step.Named.
func (l *Limits) CheckNames(registry *crawler.Registry) error {
	for i := range l.Limits {
		err := lines.About("limit:", registry.CheckNames("except", l.Limits[i].Except...))
		if err != nil && i < len(l.heads) {
			err = lines.Place(l.heads[i], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// state is what outlives a configuration.
type state struct {
	turns  limits.Turns
	warned atomic.Pointer[caddyhttp.Server] // of clients that read slowly
}

// Join implements step.Step.
func (l *Limits) Join(site step.Site) error {
	for _, one := range l.Limits {
		isHeld := func(path string) bool { return !slices.Contains(site.ExemptPaths, path) && path != "/robots.txt" }
		if len(one.Paths) > 0 && !slices.ContainsFunc(one.Paths, isHeld) {
			return fmt.Errorf("limit %s never holds a request, because its paths are exempt", strings.Join(one.Paths, " "))
		}
	}
	kept := shared.Use(&l.User, "limit", func() *state { return new(state) })
	l.warn(site, kept)
	return l.compile(site.Hosts, &kept.turns)
}

// warn warns once for a server if nothing ends the requests of clients that take their
// answers slowly, and that are counted as in flight until then.
func (l *Limits) warn(site step.Site, kept *state) {
	server := site.Server
	if server == nil || l.Unseen() == "" || server.WriteIdleTimeout > 0 || server.WriteMinRate > 0 {
		return
	}
	if kept.warned.Swap(server) != server {
		site.Log.Warn("at_once: a client that reads its answer slowly holds its turn: set `write_idle 20s` in the timeouts of the server")
	}
}

// Needs implements step.Replayer.
func (l *Limits) Needs() (n step.Needs) {
	if l.Unseen() != "" {
		n.Unknown = "how many requests are in flight, for at_once and each_at_once in limit"
	}
	n.Resolution = l.set.Shortest
	return n
}

// Unseen implements step.Watchful.
func (l *Limits) Unseen() string {
	if slices.ContainsFunc(l.Limits, func(one limits.Limit) bool { return one.AtOnce > 0 || one.EachAtOnce > 0 }) {
		return "at_once in limit"
	}
	return ""
}

// Places implements step.Placed.
func (l *Limits) Places() []*judge.Place { return l.set.Places() }

// Budgets implements step.Budgeter.
func (l *Limits) Budgets(rules *judge.Rules, a *crawler.Agent, verifiable bool) (keys []throttle.Key, perAddr bool) {
	return l.set.Budgets(rules, a, verifiable)
}

var requests = step.NewSlot[limits.Request]()

// Holds implements step.Holder.
func (l *Limits) Holds(x *step.Exchange) (why judge.Reason, line *judge.Place, ok bool) {
	line = l.set.AtOnce(&x.Request, &x.Decision)
	return limits.Reason, line, line != nil
}

// Wrap implements step.Decider.
func (l *Limits) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		q := requests.Of(x)
		q.Reset() // a step before may decide again
		x.Uses = l.set.Enter(q, &x.Request, &x.Decision, x.Uses)
		next(x)
		if x.Decision.Action != judge.Pass {
			q.Reset()
		}
	}
}

// End implements step.Ender.
func (*Limits) End(x *step.Exchange) { requests.Of(x).Reset() }

// Explain implements step.Explainer.
func (l *Limits) Explain(r *judge.Request, d *judge.Decision) string {
	if l.set == nil && l.compile(nil, nil) != nil {
		return ""
	}
	return strings.Join(words.Map(l.set.Lines(r, d), func(p *judge.Place) string { return "held by " + p.String() }), "; ")
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Limits)(nil)
	_ step.Step          = (*Limits)(nil)
	_ step.Replayer      = (*Limits)(nil)
	_ step.Holder        = (*Limits)(nil)
	_ step.Ender         = (*Limits)(nil)
	_ step.Budgeter      = (*Limits)(nil)
	_ step.Named         = (*Limits)(nil)
	_ step.Watchful      = (*Limits)(nil)
	_ step.Placed        = (*Limits)(nil)
	_ step.Explainer     = (*Limits)(nil)
)
