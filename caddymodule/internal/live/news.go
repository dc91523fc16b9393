package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The states of News.
const (
	Begins  = "begin"
	Changes = "change" // of the crawler, the cause or the host
	Ends    = "end"
)

// News is the news that an accident begins, changes or ends.
type News struct {
	State string // `begin`, `change` or `end`
	Accident
	Message string
}

// Quotas of news in an hour: for one kind and site, and for the process. Those that
// matter less leave room for others: repeated news, warnings, and those about hosts that
// only a pattern names and that had requests on one day only: clients can invent them.
const (
	newsOfOne    = 6
	maxNews      = 60
	roomForFirst = 20
	roomForMore  = 10
	// sheddingFor is the least time between the news that Shedding begins and that it ends.
	sheddingFor = 5 * time.Minute
)

// news has what was told.
type news struct {
	items map[accidentKey]*newsItem
	times []toldAt // of the last hour
}

type toldAt struct {
	accidentKey
	at time.Time
}

// newsItem is the news about one kind and site.
type newsItem struct {
	Accident
	open, told bool // it is open; it was told that it is
	isOther    bool // it has another culprit since
	known      bool // something was told
	changes    int  // since then
}

// toldOf returns how many news of one kind and site were told in the last hour.
func (n *news) toldOf(key accidentKey) (told int) {
	for _, t := range n.times {
		if t.accidentKey == key {
			told++
		}
	}
	return told
}

// may reports whether the news may be told, of whose kind and site some were told.
func (r *Reporter) may(n *news, one *newsItem, ofOne int) bool {
	most := maxNews
	if ofOne > 0 {
		most -= roomForFirst
	}
	if one.problem().Severity != statusapi.Severe {
		most -= roomForMore
	}
	isNamed := slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return slices.Contains(h.Hosts, one.Site) })
	if !isNamed && !r.app.Counters.KnowsHost(one.Site) {
		most -= roomForMore
	}
	return ofOne < newsOfOne && len(n.times) < most
}

// look notes which accidents are open.
func (n *news) look(open []Accident, now time.Time) {
	seen := make(map[accidentKey]bool)
	for _, one := range open {
		it := n.items[one.key()]
		if seen[one.key()] = true; it == nil {
			it = new(newsItem)
			n.items[one.key()] = it
		}
		isOther := it.open && (it.Crawler != one.Crawler || it.Cause != one.Cause || it.Site != one.Site)
		if !it.open || isOther {
			it.changes++
		}
		it.Accident, it.open, it.isOther = one, true, it.isOther || isOther
	}
	for key, it := range n.items {
		if it.open && !seen[key] && (it.Kind != Shedding || now.Sub(it.Since) >= sheddingFor) {
			it.open, it.isOther = false, false
			it.changes++
		}
	}
}

// News returns the next news about accidents, and false if there are none, or were too
// many. It tells each one once in the process and, with a fleet, on all servers. If
// accidents change faster, it leaves out what is no longer true, and says how much it
// left out of what it told before.
func (r *Reporter) News() (News, bool) {
	if !r.app.Active() {
		return News{}, false
	}
	open, now, a := r.accidents(statusapi.AllSites()), r.app.Now(), r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	n := &a.news
	n.look(open, now)
	return r.next(n, now)
}

// next returns the next news that may be told. The caller holds Accidents.mu.
func (r *Reporter) next(n *news, now time.Time) (News, bool) {
	n.times = slices.DeleteFunc(n.times, func(t toldAt) bool { return now.Sub(t.at) >= time.Hour || t.at.After(now) })
	items := slices.SortedFunc(maps.Values(n.items), func(x, y *newsItem) int {
		return cmp.Or(before(x.Kind != Shedding, y.Kind != Shedding), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Site, y.Site))
	})
	for _, it := range items {
		told := n.toldOf(it.key())
		isNews := it.open != it.told || it.isOther || it.known && it.changes > 1
		if !isNews && !it.open && told == 0 {
			delete(n.items, it.key())
		}
		if isNews && r.may(n, it, told) {
			if news := it.tell(); r.isTeller(it, news.State, now) {
				n.times = append(n.times, toldAt{it.key(), now})
				return news, true
			}
		}
	}
	return News{}, false
}

// tell returns the news of an item.
func (it *newsItem) tell() News {
	state, message := Ends, it.problem().Message
	if it.open && it.told {
		state = Changes
	} else if it.open {
		state = Begins
	}
	if it.changes > 1 {
		message += fmt.Sprintf(" (after %s that were not told)", quantity(it.changes-1, "change"))
	}
	it.told, it.isOther, it.known, it.changes = it.open, false, true, 0
	return News{state, it.Accident, message}
}

// fleetTells allows one of a fleet's servers to tell news.
var fleetTells = throttle.Compile(throttle.Grant{
	Rates: []robots.RequestRate{{Requests: 1, Per: 5 * time.Minute, Window: robots.WholeDay}}, Exact: true,
})

// isTeller reports whether no other server of the fleet of a site has told the same
// lately.
func (r *Reporter) isTeller(it *newsItem, state string, now time.Time) bool {
	for _, h := range r.handlers() {
		if fleet, ok := h.Limiter.(*shared.Fleet); ok && slices.Contains(h.Hosts, it.Site) {
			sum := xxhash.Sum64String(strings.Join([]string{"news", it.Kind, it.Site, it.Crawler, state}, " "))
			return fleet.Take(context.Background(), now, []throttle.Use{{Key: throttle.KeyOf(sum, ^sum), Limits: fleetTells}}, 0).OK
		}
	}
	return true
}
