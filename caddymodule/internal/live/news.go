package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The states of News.
const (
	Begins  = "begin"
	Changes = "change" // of the crawler, the cause or the host
	Worsens = "worse"
	Ends    = "end"
)

// News is the news that an accident begins, changes, gets worse or ends. What, Advice and
// Pattern have, like the fields of a Problem that events have, no text of clients or of a
// robots.txt.
type News struct {
	State string // `begin`, `change`, `worse` (a `flood` or `search_refused` is ten times what it was) or `end`
	statusapi.Problem
	What  string // what is wrong, in words; a host that only a pattern names is written `host[.]example`
	Fresh bool   // whether only a pattern names the site, and it did not have requests on two days
}

// Quotas of news in an hour: for one kind and site, and for the process. Those that
// matter less leave room for others: repeated news, warnings, and those about hosts that
// only a pattern names and that had requests on one day only: clients can invent them.
const (
	newsOfOne    = 6
	maxNews      = 60
	roomForFirst = 20
	roomForMore  = 10
	// worseFactor is how many times as bad an accident is that gets worse.
	worseFactor = 10
	// leastFor is the least time between the news that an accident begins that is no error, such
	// as a busy server, and that it ends.
	leastFor = 5 * time.Minute
)

// news has what was told.
type news struct {
	items map[problemKey]*newsItem
	times []toldAt // of the last hour
}

type toldAt struct {
	problemKey
	at time.Time
}

// newsItem is the news about one kind and site.
type newsItem struct {
	now  statusapi.Problem
	open bool
	told *statusapi.Problem // as it was when it was last told; nil if it was not, or that it ended
}

// state returns the state of what is to be told; "" for nothing.
func (it *newsItem) state() string {
	was, now := it.told, &it.now
	switch {
	case !it.open && was == nil:
		return ""
	case !it.open:
		return Ends
	case now.Severity == statusapi.Remark: // nothing has to be done, however much it is
		return ""
	case was == nil:
		return Begins
	case was.Crawler != now.Crawler || was.Cause != now.Cause || was.Sites[0] != now.Sites[0]:
		return Changes
	case (now.Kind == Flood || now.Kind == SearchRefused) && now.Now >= worseFactor*max(1, was.Now):
		return Worsens
	}
	return ""
}

// toldOf returns how many news of one kind and site were told in the last hour.
func (n *news) toldOf(key problemKey) (told int) {
	for _, t := range n.times {
		if t.problemKey == key {
			told++
		}
	}
	return told
}

// may reports whether the news may be told, of whose kind and site some were told.
func (r *Reporter) may(n *news, one *statusapi.Problem, ofOne int) bool {
	most := maxNews
	if ofOne > 0 {
		most -= roomForFirst
	}
	if one.Severity != statusapi.Severe {
		most -= roomForMore
	}
	if r.isFresh(one.Sites[0]) {
		most -= roomForMore
	}
	return ofOne < newsOfOne && len(n.times) < most
}

// isNamed reports whether the configuration names a site.
func (r *Reporter) isNamed(site string) bool {
	return slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return slices.Contains(h.Hosts, site) })
}

// isFresh reports whether a client may just have invented a site.
func (r *Reporter) isFresh(site string) bool {
	return !r.isNamed(site) && !r.app.Counters.KnowsHost(site)
}

// look notes which accidents are open.
func (n *news) look(open []statusapi.Problem, now time.Time) {
	seen := make(map[problemKey]bool)
	for _, one := range open {
		if !one.IsAccident() {
			continue
		}
		key := keyOf(&one)
		seen[key] = true
		if n.items[key] == nil {
			n.items[key] = new(newsItem)
		}
		n.items[key].now, n.items[key].open = one, true
	}
	for key, it := range n.items {
		if !seen[key] && (it.now.Severity == statusapi.Severe || now.Sub(*it.now.Since) >= leastFor) {
			it.open = false
		}
	}
}

// News returns the next news about accidents, and false if there are none, or were too
// many. It tells each one once in the process and, with a fleet, on all servers. If
// accidents change faster, it leaves out what is no longer true.
func (r *Reporter) News() (News, bool) {
	if !r.app.Active() {
		return News{}, false
	}
	open, now, a := r.accidents(statusapi.AllSites()), r.app.Now(), r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	a.news.look(open, now)
	return r.next(&a.news, now)
}

// next returns the next news that may be told. The caller holds Accidents.mu.
func (r *Reporter) next(n *news, now time.Time) (News, bool) {
	n.times = slices.DeleteFunc(n.times, func(t toldAt) bool { return now.Sub(t.at) >= time.Hour || t.at.After(now) })
	items := slices.SortedFunc(maps.Values(n.items), func(x, y *newsItem) int {
		return cmp.Or(before(x.now.Severity == statusapi.Severe, y.now.Severity == statusapi.Severe), cmp.Compare(x.now.Kind, y.now.Kind),
			cmp.Compare(x.now.Sites[0], y.now.Sites[0]))
	})
	for _, it := range items {
		state, key := it.state(), keyOf(&it.now)
		told := n.toldOf(key)
		if state == "" && !it.open && told == 0 {
			delete(n.items, key)
		}
		if state == "" || !r.may(n, &it.now, told) {
			continue
		}
		it.told = nil
		if it.open {
			it.told = new(it.now)
		}
		if r.isTeller(&it.now, state, now) {
			n.times = append(n.times, toldAt{key, now})
			return r.newsOf(it.now, state), true
		}
	}
	return News{}, false
}

// newsOf returns the news of an accident.
func (r *Reporter) newsOf(p statusapi.Problem, state string) News {
	what := r.plain(&p, cmp.Or(p.Plain, p.Message))
	switch {
	case state == Ends:
		p.Advice = ""
	case p.Kind == RulesLost && strings.Contains(p.Advice, graceAdvice): // which may quote an answer
		p.Advice = putBack + graceAdvice + " " + acceptAdvice
	case p.Kind == RulesLost:
		p.Advice = putBack + acceptAdvice
	default:
		p.Advice = r.plain(&p, p.Advice)
	}
	p.Pattern = cmp.Or(p.Pattern, statusapi.AnySite)
	if r.isNamed(p.Sites[0]) {
		p.Pattern = ""
	}
	return News{State: state, Problem: p, What: what, Fresh: r.isFresh(p.Sites[0])}
}

// putBack is what to do first about a robots.txt that lost its rules.
const putBack = "If that was a mistake, put the file back. "

// plain returns a text about an accident in which no host that clients chose can be a link.
func (r *Reporter) plain(p *statusapi.Problem, text string) string {
	switch {
	case !slices.Contains(p.Sites, p.Subject) || r.isNamed(p.Subject):
		return text
	case counters.IsHostName(p.Subject):
		return strings.ReplaceAll(text, p.Subject, strings.ReplaceAll(p.Subject, ".", "[.]"))
	}
	return strings.ReplaceAll(text, p.Subject, statusapi.SiteName(keyOf(p).site))
}

// fleetTells allows one of a fleet's servers to tell news.
var fleetTells = throttle.Compile(throttle.Grant{
	Rates: []robots.RequestRate{{Requests: 1, Per: 5 * time.Minute, Window: robots.WholeDay}}, Exact: true,
})

// isTeller reports whether no other server of the fleet of a site has told the same
// lately. While Redis does not answer, each server tells what it sees.
func (r *Reporter) isTeller(p *statusapi.Problem, state string, now time.Time) bool {
	for _, h := range r.handlers() {
		if h.Sharer != nil && (slices.Contains(h.Hosts, p.Sites[0]) || h.Owns(p.Sites[0])) {
			sum := xxhash.Sum64String(strings.Join([]string{"news", p.Kind, keyOf(p).site, p.Crawler, p.Cause, state}, " "))
			return h.Limiter.Take(context.Background(), now, []throttle.Use{{Key: throttle.KeyOf(sum, ^sum), Limits: fleetTells}}).OK
		}
	}
	return true
}
