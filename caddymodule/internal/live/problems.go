package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// found is a problem that was found at a look.
type found struct {
	statusapi.Problem
	of *Handler // all of whose sites and hosts have it; nil if Sites alone do
}

// problemKey is a kind and the site, or for files the pattern of hosts: one mistake may be in all.
type problemKey struct{ kind, site string }

func keyOf(p *statusapi.Problem) problemKey {
	switch {
	case len(p.Sites) == 0:
		return problemKey{p.Kind, ""}
	case p.Kind == RulesLost || p.Kind == SearchShutOut:
		return problemKey{p.Kind, cmp.Or(p.Pattern, p.Sites[0])}
	}
	return problemKey{p.Kind, p.Sites[0]}
}

// look finds what is wrong now beside the files that are in force: lost rules, what the counters say,
// and what steps and the places of handlers do. Only the configuration that was loaded last looks. The
// caller holds mu.
func (a *Accidents) look(r *Reporter) {
	if !r.app.Active() {
		return
	}
	now, open := r.app.Now(), make(map[problemKey]*statusapi.Problem)
	a.at = now
	for i := range slices.Backward(a.list) {
		open[keyOf(&a.list[i].Problem)] = &a.list[i].Problem
	}
	isOpen := func(x *found) bool { // the culprit stays the same as long as it is one
		was := open[keyOf(&x.Problem)]
		return was != nil && was.Crawler == x.Crawler && was.Subject == x.Subject
	}
	a.list = nil
	for _, list := range [][]found{
		alone(a.fileAccidents(r, now)),
		alone(refusedSearches(r.app.Counters.Runs(), now)),
		alone(floods(r.app.Counters.Loads(counters.FloodLeast), open, now)),
		r.reported(open),
	} {
		slices.SortStableFunc(list, func(x, y found) int {
			return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(keyOf(&x.Problem).site, keyOf(&y.Problem).site), before(isOpen(&x), isOpen(&y)),
				cmp.Compare(y.Now, x.Now), cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Crawler, y.Crawler))
		})
		a.list = append(a.list, list...)
	}
	for i := range a.list {
		p := &a.list[i]
		if was := open[keyOf(&p.Problem)]; p.Since == nil && was != nil {
			p.Since = was.Since
		} else if p.Since == nil {
			p.Since = timeOf(now)
		}
	}
}

// alone returns problems of their Sites alone.
func alone(list []statusapi.Problem) []found {
	return words.Map(list, func(p statusapi.Problem) found { return found{Problem: p} })
}

// reported returns what is wrong by what steps say, with the registry, and with the places of handlers.
func (r *Reporter) reported(open map[problemKey]*statusapi.Problem) []found {
	list := alone(r.app.Problems())
	for _, h := range r.handlers() {
		if h.Problems == nil {
			continue
		}
		for _, p := range h.Problems(h.mode() == statusapi.Monitor) {
			one := found{Problem: p}
			if p.Sites == nil {
				one.of, one.Sites = h, h.Hosts
			}
			if p.IsAccident() {
				one.Subject = statusapi.SiteName(one.Sites[0])
			}
			if one.Crawler == everybody {
				r.blame(&one.Problem, open[keyOf(&one.Problem)])
			}
			one.Severity = cmp.Or(p.Severity, statusapi.Severe)
			one.Subject = cmp.Or(one.Subject, siteNames(one.Sites))
			for i := range one.Parts {
				one.Parts[i].Subject = one.Parts[i].Sites[0]
			}
			list = append(list, one)
		}
	}
	return list
}

// leastBlamed is how many requests of a crawler in two minutes a limit of it would hold.
const leastBlamed = 20

// blame names the crawler that has more than half of all crawlers' requests of this minute and the one
// before it, if a problem is about them; one that was named before needs a third.
func (r *Reporter) blame(p, was *statusapi.Problem) {
	all, most, top := uint64(0), uint64(0), (*counters.Load)(nil)
	for _, load := range r.app.Counters.Loads(0) {
		n := load.Robots[0] + load.Robots[1]
		switch {
		case !slices.Contains(p.Sites, load.Site):
		case load.Crawler == "":
			all += n + load.Engines[0] + load.Engines[1]
		case load.Bound && n > most:
			most, top = n, load
		}
	}
	if most <= leastBlamed || 3*most <= all || 2*most <= all && (was == nil || was.Crawler != top.Label) {
		return
	}
	p.Crawler, p.Folder, p.Advice = top.Label, top.Folder, slower(top.Label)
	of := fmt.Sprintf("; of %s of robots in this minute and the one before, %s are those of ", quantity(int(all), "request"), words.Count(int(most)))
	p.Message, p.Plain = p.Message+of+top.Crawler, cmp.Or(p.Plain, p.Message)+of+named(top.Label)
}

func siteNames(sites []string) string { return statusapi.SiteName(strings.Join(sites, ", ")) }

// in returns what a scope is told of the problem: with names of its own sites alone.
func (f *found) in(scope statusapi.Scope) []statusapi.Problem {
	p := f.Problem
	if scope.All() || scope.Site(p.Pattern) {
		return []statusapi.Problem{p}
	}
	isOthers := func(site string) bool { return !scope.Site(site) }
	if len(p.Parts) > 0 && isOthers(p.Sites[0]) {
		return slices.DeleteFunc(slices.Clone(p.Parts), func(part statusapi.Problem) bool { return isOthers(part.Sites[0]) })
	}
	own := slices.DeleteFunc(slices.Clone(p.Sites), isOthers)
	if len(own) == 0 && f.of != nil {
		own = f.of.ownedIn(scope)
	}
	if len(own) == 0 {
		return nil
	}
	subject, named := p.Subject, p.Subject
	switch subject {
	case siteNames(p.Sites):
		named = siteNames(own)
	case statusapi.SiteName(p.Sites[0]):
		named = statusapi.SiteName(own[0])
	}
	if named != subject {
		p.Subject = named
		p.Message, p.Advice = strings.ReplaceAll(p.Message, subject, named), strings.ReplaceAll(p.Advice, subject, named)
	}
	p.Sites = own
	return []statusapi.Problem{p}
}

// accidents returns what was found in a scope at the last look; of accidents with the same key one.
func (r *Reporter) accidents(scope statusapi.Scope) (list []statusapi.Problem) {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	if since := r.app.Now().Sub(a.at); len(a.files) <= manyFiles || since < 0 || since >= lookEvery {
		a.look(r)
	}
	first, more := make(map[problemKey]int), make(map[int]int) // indexes, and how many have the same key
	for i := range a.list {
		for _, p := range a.list[i].in(scope) {
			at, isKnown := first[keyOf(&p)]
			if isKnown && p.IsAccident() {
				more[at]++
				continue
			}
			first[keyOf(&p)] = len(list)
			list = append(list, p)
		}
	}
	for i, n := range more {
		text := fmt.Sprintf(" (and %d more)", n)
		list[i].Plain = cmp.Or(list[i].Plain, list[i].Message) + text
		list[i].Message += text
	}
	return list
}

// With more than manyFiles files, the time between two looks is lookEvery: a report of them
// asks several times at once, and events are told as often.
const (
	manyFiles = 1000
	lookEvery = 5 * time.Second
)
