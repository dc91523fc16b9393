package enforce

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Budget identifies a budget of a crawler at one origin. How much of it is
// used is in the limiter, under Key: see throttle.Limiter.
type Budget struct {
	Key       throttle.Key
	Limits    *throttle.Limits // the rate limits
	Group     *robots.Group    // the group that sets them
	Rules     *judge.Rules
	Pool      bool // the budget that all clients with an unverified claim to be this crawler share
	Impostors bool // only impostors use the budget
	// PerAddr reports that each client address has its own budget. Then Key is
	// not the key of a budget: Key.Client returns the key for an address.
	PerAddr bool

	// Line is the line of the configuration that limits it; nil for a budget of a group.
	Line *judge.Place
	// AtOnce is how many requests may be in flight, and InFlight how many are: then there are
	// no Limits. It is 0 for all other budgets.
	AtOnce, InFlight int
	// Sharers says which crawlers share the budget, if several do; "" otherwise.
	Sharers string
}

// BudgetsOf lists the budgets of a step that a crawler can use. verifiable says that claims to
// be it can be verified.
type BudgetsOf func(rules *judge.Rules, a *crawler.Agent, verifiable bool) []Budget

// Budgets returns the budgets of a crawler at an origin: its own and, if claims
// to be this crawler can be verified, the one that unverified claims share, and
// that of impostors if they are not denied. Those of steps, which more lists, follow. For invented, see
// Request.Invented. It returns nil if nothing limits the crawler.
func (e *Engine) Budgets(origin judge.Origin, a *crawler.Agent, invented bool, more ...BudgetsOf) (list []Budget) {
	rules := e.origins.RulesOf(origin)
	if rules == nil {
		return nil
	}
	group, limits := rules.Group(a), rules.Limits(a)
	v := e.settings.Verification
	verifiable := v != nil && a.Crawler != nil && v.Checker.Verifiable(a.Crawler)
	if limits != nil {
		r, s := &judge.Request{Origin: origin, Invented: invented}, &judge.Subject{Agent: *a, PerAddr: rules.PerAddr(a)}
		own := Budget{
			Key: e.budget(r, s, 0), Limits: limits, Group: group, Rules: rules,
			PerAddr: s.PerAddr || a.RunByAnyone() || e.settings.PerIP,
		}
		list = append(list, own)
		if verifiable && rules.PoolLimits(limits) != nil {
			pool := own
			pool.Key, pool.Limits, pool.Pool = e.budget(r, s, seedPool).In(own.Key), rules.PoolLimits(limits), true
			list = append(list, pool)
		}
		if verifiable && v.IgnoreImpostors && !s.PerAddr {
			impostors := own
			impostors.Key, impostors.Impostors = e.budget(r, s, seedImpostor), true
			list = append(list, impostors)
		}
	}
	for _, of := range more {
		list = append(list, of(rules, a, verifiable)...)
	}
	return list
}

// maxPaced is how many origins with an invented host a Memory remembers.
const maxPaced = 1 << 13

// pacedOrigin is an origin with an invented host at which rate limits applied,
// so that its budgets can be listed. It is only for sources with one file for
// all origins: with the others, Origins knows the origins.
type pacedOrigin struct {
	origin judge.Origin
	last   atomic.Int64 // when a limit applied last, in nanoseconds since 1970
}

// notePaced records that rate limits apply to a request.
func (m *Memory) notePaced(r *judge.Request) {
	at := r.Time.UnixNano()
	key, _ := r.Origin.Hash(0, "")
	entry := m.paced.Add(key, (*pacedOrigin).lastTime, func(o *pacedOrigin) {
		o.origin = judge.Origin{Scheme: r.Origin.Scheme, Host: strings.Clone(r.Origin.Host), Port: r.Origin.Port}
	})
	if at-entry.last.Load() >= timePrecision {
		entry.last.Store(at)
	}
}

func (o *pacedOrigin) lastTime() int64 { return o.last.Load() }

// PacedOrigins returns the origins with an invented host at which the engine, or
// another engine with the same Memory, applied rate limits. They are at most
// 8192, in the order of their names. If each origin has its own file, it returns
// none: see Origins.
func (e *Engine) PacedOrigins() (list []judge.Origin) {
	if !e.origins.PerOrigin() {
		for o := range e.memory.paced.All() {
			list = append(list, o.origin)
		}
	}
	slices.SortFunc(list, func(a, b judge.Origin) int { return strings.Compare(a.String(), b.String()) })
	return list
}
