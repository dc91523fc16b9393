// Package limit is the step that bounds what crawlers request together, with enforce/limits.
package limit

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
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
// that the group for `*` would apply to if there were one. Search engines and ads are held
// only with `include`, because a search engine that gets 429 crawls the whole host less.
// All hosts of a site block share the budgets, and in a `fleet` all servers those of `all`
// and `each`.
type Limits struct {
	// The limits.
	Limits []Limit `json:"limits"`

	set     *limits.Set
	release func() error
}

// CaddyModule returns the Caddy module information.
func (*Limits) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.limit", New: func() caddy.Module { return new(Limits) }}
}

// Info implements step.Step.
func (*Limits) Info() step.Info {
	return step.Info{
		Stage: step.Limit, Example: "limit", Lines: []string{"all", "each", "at_once", "each_at_once", "hosts", "except", "include"},
		Repeatable: true, Enforces: true,
	}
}

// state is what outlives a configuration.
type state struct {
	turns  limits.Turns
	warned atomic.Pointer[caddyhttp.Server] // of clients that read slowly
}

// Join implements step.Step.
func (l *Limits) Join(site step.Site) error {
	if err := l.check(); err != nil {
		return err
	}
	for i := range l.Limits {
		paths := l.Limits[i].Paths
		isHeld := func(path string) bool { return !slices.Contains(site.ExemptPaths(), path) && path != "/robots.txt" }
		if len(paths) > 0 && !slices.ContainsFunc(paths, isHeld) {
			return fmt.Errorf("limit %s never holds a request, because its paths are exempt", strings.Join(paths, " "))
		}
	}
	kept, release := shared.Get("limit", func() *state { return new(state) })
	l.release = release
	l.warn(site, kept)
	var err error
	l.set, err = limits.New(l.List(), site.Hosts, &kept.turns)
	return err
}

// warn warns once for a server if nothing ends the requests of clients that take their
// answers slowly, and that are counted as in flight until then.
func (l *Limits) warn(site step.Site, kept *state) {
	server := site.Server()
	if server == nil || l.Unseen() == "" || server.WriteIdleTimeout > 0 || server.WriteMinRate > 0 {
		return
	}
	if kept.warned.Swap(server) != server {
		site.Log().Warn("at_once: a client that reads its answer slowly holds its turn: set `write_idle 20s` in the timeouts of the server")
	}
}

// Cleanup implements caddy.CleanerUpper.
func (l *Limits) Cleanup() error {
	if l.release == nil {
		return nil
	}
	return l.release()
}

// List returns the limits as package limits has them. They must be checked.
func (l *Limits) List() []limits.Limit {
	return words.Map(l.Limits, func(one Limit) limits.Limit {
		converted, _ := one.engine()
		return converted
	})
}

// Unseen implements step.Watchful.
func (l *Limits) Unseen() string {
	if slices.ContainsFunc(l.Limits, func(one Limit) bool { return one.AtOnce > 0 || one.EachAtOnce > 0 }) {
		return "at_once in limit"
	}
	return ""
}

// Places implements step.Placed.
func (l *Limits) Places() []*judge.Place { return l.set.Places() }

// Budgets implements step.Budgeter.
func (l *Limits) Budgets(rules *judge.Rules, a *crawler.Agent, verifiable bool) []enforce.Budget {
	return l.set.Budgets(rules, a, verifiable)
}

// held has what limits hold of a request.
type held struct{ *limits.Request }

var requests = step.NewSlot[held]()

// Holds implements step.Holder.
func (l *Limits) Holds(x *step.Exchange) (why judge.Reason, line *judge.Place, ok bool) {
	line = l.set.AtOnce(&x.Request, &x.Decision)
	return limits.Reason, line, line != nil
}

// Wrap implements step.Decider.
func (l *Limits) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		q := requests.Of(x)
		q.Leave() // a step before may decide again
		q.Request = l.set.Enter(&x.Request, &x.Decision)
		x.Uses = append(x.Uses, q.Uses()...)
		next(x)
		if x.Decision.Action != judge.Pass {
			q.Withdraw()
		}
	}
}

// End implements step.Ender.
func (*Limits) End(x *step.Exchange) { requests.Of(x).Leave() }

// View implements step.Feature.
func (*Limits) View(bool) (none step.Section) { return none }

// Accidents implements step.Feature.
func (*Limits) Accidents(bool) []step.Problem { return nil }

// Explain implements step.Feature.
func (l *Limits) Explain(r *judge.Request, d *judge.Decision) string {
	set := l.set
	if set == nil {
		var err error
		set, err = limits.New(l.List(), nil, new(limits.Turns))
		if err != nil {
			return ""
		}
	}
	return strings.Join(words.Map(set.Lines(r, d), func(p *judge.Place) string { return "held by " + p.String() }), "; ")
}

// Interface guards
var (
	_ caddy.CleanerUpper = (*Limits)(nil)
	_ step.Step          = (*Limits)(nil)
	_ step.Decider       = (*Limits)(nil)
	_ step.Holder        = (*Limits)(nil)
	_ step.Ender         = (*Limits)(nil)
	_ step.Budgeter      = (*Limits)(nil)
	_ step.Named         = (*Limits)(nil)
	_ step.Watchful      = (*Limits)(nil)
	_ step.Placed        = (*Limits)(nil)
	_ step.Feature       = (*Limits)(nil)
)
