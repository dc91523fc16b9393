package enforce

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// block identifies a limit at its hosts: the host of Origin is the text of both.
type block struct {
	Origin
	home throttle.Key // of all budgets of the hosts' requests; see throttle.Key.In
}

// findBlocks sets e.blocks.
func (e *Engine) findBlocks(handler func() HandlerKey) {
	settings := e.settings
	e.blocks = sync.OnceValue(func() (blocks []block) {
		var hosts []string
		if handler != nil {
			hosts = slices.Sorted(slices.Values(handler().Hosts))
		}
		home := throttle.KeyOf(hash(seedLimit, Origin{Host: strings.Join(hosts, " ")}, ""))
		for _, l := range settings.limits {
			names := slices.Concat(hosts, []string{""}, slices.Sorted(slices.Values(l.Paths)))
			blocks = append(blocks, block{Origin{Host: strings.Join(names, " ")}, home})
		}
		return blocks
	})
}

// limitKey returns the key of the budget, or of the requests at once, that a
// request uses of line n of limit i. Like the budget of a crawler, the one of each
// crawler can be that of a client's address. Clients that are verified do not share
// it with those that only claim to be the crawler.
func (e *Engine) limitKey(r *Request, d *Decision, i, n int) throttle.Key {
	seed, block := seedLimit+2*uint8(n), &e.blocks()[i]
	if e.settings.monitors(&d.Agent) {
		seed++
	}
	if n == boundEach || n == boundEachAtOnce {
		k := throttle.KeyOf(hash(seed+8*uint8(d.Claim.State), block.Origin, agentName(&d.Agent)))
		return e.agentKey(r, &d.Agent, k.In(block.home))
	}
	seed += 8 * uint8(e.settings.limits[i].pool(&d.Agent, d.Claim.State))
	return throttle.KeyOf(hash(seed, block.Origin, "")).In(block.home)
}

// pool says which crawlers share a budget of a limit.
type pool uint8

const (
	poolCrawlers pool = iota
	poolClaims        // those that are included, and not verified
	poolVerified      // those that are included, and verified
	poolCount
)

var poolNames = [poolCount]string{"crawlers", "search_unverified", "search"}

// pool returns the pool of an agent with a claim.
func (l *limit) pool(a *crawler.Agent, claim verify.State) pool {
	switch {
	case l.role(a, claim) != apart:
		return poolCrawlers
	case claim == verify.Verified:
		return poolVerified
	}
	return poolClaims
}

// limitUses appends the budgets of the limits in d.held that a request uses.
func (e *Engine) limitUses(uses []throttle.Use, r *Request, d *Decision) []throttle.Use {
	for held := d.held; held != 0; held &= held - 1 {
		i := bits.TrailingZeros8(held)
		for n := boundAll; n <= boundEach; n++ {
			if rate := e.settings.limits[i].bounds[n].rate; rate != nil {
				uses = use(uses, e.limitKey(r, d, i, n), rate)
			}
		}
	}
	return uses
}

// boundOf returns the line with a rate; nil if it is no line of a limit.
func (e *Engine) boundOf(rate *throttle.Limits) *bound {
	for i := range e.settings.limits {
		for n := range e.settings.limits[i].bounds {
			if b := &e.settings.limits[i].bounds[n]; b.rate == rate {
				return b
			}
		}
	}
	return nil
}

// enter counts a request that is let through as one in flight, for the limits of
// all its crawlers. If one of them has too many, enter refuses the request.
func (e *Engine) enter(r *Request, d *Decision) {
	var pools [MaxLimits][poolCount]bool // in which the request is in flight
	for i := range d.crawlers() {
		d.swap(i)
		if !e.enterOne(r, d, &pools) {
			e.leave(r, d)
			return
		}
		d.swap(i)
	}
}

// enterOne is enter for the crawler that d is about. It reports whether the request
// is still let through.
func (e *Engine) enterOne(r *Request, d *Decision, pools *[MaxLimits][poolCount]bool) bool {
	for held := d.held; held != 0; held &= held - 1 {
		i := bits.TrailingZeros8(held)
		l := &e.settings.limits[i]
		for n := boundAtOnce; n < boundCount; n++ {
			b := &l.bounds[n]
			if b.most == 0 {
				continue
			}
			if n == boundAtOnce {
				in := &pools[i][l.pool(&d.Agent, d.Claim.State)]
				if *in {
					continue
				}
				*in = true
			}
			if _, ok := e.memory.flights.add(e.limitKey(r, d, i, n), 1, b.most); !ok {
				d.exceed(b, atOnceRetry)
				return false
			}
			d.entered |= 1 << (2*i + n - boundAtOnce)
		}
	}
	return true
}

// isIn reports whether the request is in flight for a limit.
func (d *Decision) isIn() bool {
	entered := d.entered
	for i := range d.others {
		entered |= d.others[i].entered
	}
	return entered != 0
}

// allHeld returns the limits that hold any of the crawlers, as pacing.held.
func (d *Decision) allHeld() uint8 {
	held := d.held
	for i := range d.others {
		held |= d.others[i].held
	}
	return held
}

// budgets returns the lines of a limit as budgets without keys, for crawlers of a
// pool.
func (l *limit) budgets(rules *Rules, sharers pool) (list []Budget) {
	for n := range l.bounds {
		if b := &l.bounds[n]; b.in != nil {
			budget := Budget{Rules: rules, Limits: b.rate, AtOnce: b.most, Line: b.in.Line, File: b.in.File, Text: b.text}
			if n == boundAll || n == boundAtOnce {
				budget.Sharers = poolNames[sharers]
			}
			list = append(list, budget)
		}
	}
	return list
}

// limitBudgets appends the budgets of Settings.Limits that a crawler can use.
func (e *Engine) limitBudgets(list []Budget, rules *Rules, a *crawler.Agent, verifiable bool) []Budget {
	states := []verify.State{verify.NoMethod}
	if verifiable {
		states = []verify.State{verify.Verified, verify.Unverified}
	}
	for i := range e.settings.limits {
		l := &e.settings.limits[i]
		for _, state := range states {
			d := &Decision{Agent: *a, Claim: verify.Result{State: state}}
			if l.role(a, state) == free {
				continue
			}
			for _, b := range l.budgets(rules, l.pool(a, state)) {
				n := slices.IndexFunc(l.bounds[:], func(other bound) bool { return other.text == b.Text })
				b.Key = e.limitKey(new(Request), d, i, n)
				b.Pool, b.PerAddr = state == verify.Unverified, b.Sharers == "" && (a.RunByAnyone() || e.settings.PerIP)
				b.InFlight, _ = e.memory.flights.add(b.Key, 0, 0)
				list = append(list, b)
			}
		}
	}
	return list
}

// exceed turns d into a decision to throttle the request because of a limit.
func (d *Decision) exceed(b *bound, retryAfter time.Duration) {
	d.Action, d.Reason, d.RetryAfter, d.bound = Throttle, OverLimit, retryAfter, b
	d.Version, d.Rule, d.Layer, d.Line = nil, robots.Rule{}, LimitLayer, b.in.Line
}

// Release ends a request that Decide let through: it is no longer in flight, for
// Limit.AtOnce and Limit.EachAtOnce. If it was refused after Decide, by the
// caller, it gives back the budget that it has used, unless later
// requests have been let through since. Call Release once the request has ended,
// whatever ended it, with the values that Decide got.
func (e *Engine) Release(r *Request, d *Decision, refused bool) {
	e.leave(r, d)
	if refused && d.used {
		uses, _ := e.uses(nil, r, d)
		throttle.GiveBack(e.limiter, e.origins.cfg.Now(), r.Time.Add(d.Delay), uses)
	}
	d.used = false
}

// leave ends what enter began.
func (e *Engine) leave(r *Request, d *Decision) {
	for i := range d.crawlers() {
		d.swap(i)
		for d.entered != 0 {
			at := bits.TrailingZeros16(d.entered)
			d.entered &= d.entered - 1
			e.memory.flights.add(e.limitKey(r, d, at/2, boundAtOnce+at%2), -1, 0)
		}
		d.swap(i)
	}
}

// flights counts requests in flight by key. It has an entry for each key with such
// a request, so it is as bounded as these are.
type flights [64]struct {
	mu    sync.Mutex
	count map[throttle.Key]int
	_     [48]byte // so that no two share a cache line
}

// add adds by requests, unless there would be more than most, and returns how many
// there are then.
func (f *flights) add(k throttle.Key, by, most int) (count int, ok bool) {
	s := &f[k[0]%uint64(len(f))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if count = s.count[k] + by; by > 0 && count > most {
		return count - by, false
	}
	if s.count == nil {
		s.count = make(map[throttle.Key]int)
	}
	if s.count[k] = count; count <= 0 {
		delete(s.count, k)
	}
	return count, true
}
