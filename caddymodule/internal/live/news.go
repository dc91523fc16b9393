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
// Pattern have, like the fields of an Accident that events have, no text of clients or of a
// robots.txt.
type News struct {
	State string // `begin`, `change`, `worse` (a `flood` or `search_refused` is ten times what it was) or `end`
	Accident
	What    string // what is wrong, in words; a host that only a pattern names is written `host[.]example`
	Pattern string // the pattern that the host in `site` matches, or empty
	Fresh   bool   // whether only a pattern names it, and it did not have requests on two days
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
	isWorse    bool // it is worseFactor times as bad since
	known      bool // something was told
	changes    int  // since then
	bad        int  // Accident.Now when it was told
}

// worsens reports whether an accident that is open, and told, is worse than it was then.
func (it *newsItem) worsens(one *Accident) bool {
	return it.open && it.told && (one.Kind == Flood || one.Kind == SearchRefused) && one.Now >= worseFactor*max(1, it.bad)
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
	if r.isFresh(one.Site) {
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
func (n *news) look(open []Accident, now time.Time) {
	seen := make(map[accidentKey]bool)
	for _, one := range open {
		it := n.items[one.key()]
		if seen[one.key()] = true; it == nil {
			it = new(newsItem)
			n.items[one.key()] = it
		}
		isOther := it.open && (it.Crawler != one.Crawler || it.Cause != one.Cause || it.Site != one.Site)
		isWorse := it.worsens(&one) && !it.isWorse
		if !it.open || isOther || isWorse {
			it.changes++
		}
		it.Accident, it.open, it.isOther, it.isWorse = one, true, it.isOther || isOther, it.isWorse || isWorse
	}
	for key, it := range n.items {
		if it.open && !seen[key] && (it.Kind != Shedding || now.Sub(*it.Since) >= sheddingFor) {
			it.open, it.isOther, it.isWorse = false, false, false
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
		isNews := it.open != it.told || it.isOther || it.isWorse || it.known && it.changes > 1
		if !isNews && !it.open && told == 0 {
			delete(n.items, it.key())
		}
		if isNews && r.may(n, it, told) {
			if news := r.newsOf(it); r.isTeller(it, news.State, now) {
				n.times = append(n.times, toldAt{it.key(), now})
				return news, true
			}
		}
	}
	return News{}, false
}

// newsOf returns the news of an item, which then is told.
func (r *Reporter) newsOf(it *newsItem) News {
	news := News{State: Ends, Accident: it.Accident, What: r.inWords(&it.Accident), Fresh: r.isFresh(it.Site)}
	news.Message, news.Advice = it.problem().Message, ""
	switch {
	case !it.open:
	case !it.told:
		news.State = Begins
	case it.isWorse && !it.isOther:
		news.State = Worsens
	default:
		news.State = Changes
	}
	switch {
	case it.open && it.Kind == RulesLost: // whose advice may quote an answer
		news.Advice = fileAdvice
	case it.open:
		news.Advice = r.plain(&it.Accident, it.Advice)
	}
	if !r.isNamed(it.Site) {
		news.Pattern = cmp.Or(it.pattern, statusapi.AnySite)
	}
	if it.changes > 1 {
		untold := fmt.Sprintf(" (after %s that were not told)", quantity(it.changes-1, "change"))
		news.Message, news.What = news.Message+untold, news.What+untold
	}
	it.told, it.isOther, it.isWorse, it.known, it.changes, it.bad = it.open, false, false, true, 0, it.Now
	return news
}

// fileAdvice is what to do about a robots.txt that lost its rules.
const fileAdvice = "If that was a mistake, put the file back. " + acceptAdvice

// inWords returns the message of an accident without text of clients or of a robots.txt.
func (r *Reporter) inWords(a *Accident) string {
	what := r.plain(a, cmp.Or(a.plain, a.Message))
	if a.more > 0 {
		what += fmt.Sprintf(" (and %d more)", a.more)
	}
	return what
}

// plain returns a text about an accident in which no host that clients chose can be a link.
func (r *Reporter) plain(a *Accident, text string) string {
	isShared := len(a.sites) > 0 && a.sites[0] == "" // the subject is the file of several hosts
	isConfigured := isShared || r.isNamed(a.Subject) || a.Subject == siteName(statusapi.AnySite)
	switch {
	case a.Subject == "" || isConfigured:
		return text
	case counters.IsHostName(a.Subject):
		return strings.ReplaceAll(text, a.Subject, strings.ReplaceAll(a.Subject, ".", "[.]"))
	}
	return strings.ReplaceAll(text, a.Subject, siteName(a.key().site))
}

// fleetTells allows one of a fleet's servers to tell news.
var fleetTells = throttle.Compile(throttle.Grant{
	Rates: []robots.RequestRate{{Requests: 1, Per: 5 * time.Minute, Window: robots.WholeDay}}, Exact: true,
})

// isTeller reports whether no other server of the fleet of a site has told the same
// lately. While Redis does not answer, each server tells what it sees.
func (r *Reporter) isTeller(it *newsItem, state string, now time.Time) bool {
	if it.Kind == FleetLost {
		return true // each server has lost it for itself
	}
	for _, h := range r.handlers() {
		if h.Sharer != nil && (slices.Contains(h.Hosts, it.Site) || h.Owns(it.Site)) {
			sum := xxhash.Sum64String(strings.Join([]string{"news", it.Kind, it.key().site, it.Crawler, state}, " "))
			return h.Limiter.Take(context.Background(), now, []throttle.Use{{Key: throttle.KeyOf(sum, ^sum), Limits: fleetTells}}).OK
		}
	}
	return true
}
