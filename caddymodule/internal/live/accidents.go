package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// The kinds of accidents that no step finds.
var (
	RulesLost = statusapi.NewAccident("rules_lost", "robots.txt had rules, and lost them: it is missing, another text, empty or only NULs, "+
		"shrank to less than a tenth, or its URL answers another 4xx than 429 or redirects to another host. It ends when the file has them again.")
	SearchShutOut = statusapi.NewAccident("search_shut_out", "robots.txt now disallows `/` to `*` or to a search engine, and did not before. "+
		"It ends when the file no longer does.")
	SearchRefused = statusapi.NewAccident("search_refused", "For at least a minute, a verified search engine is refused where the group for `*` "+
		"would let it pass, or is refused more often than it is served. It ends after ten minutes without a refusal.")
	Flood = statusapi.NewAccident("flood", "Within a minute, one crawler, or all together, send more than 100 requests to a site, over ten times "+
		"as many as usual, and a fifth of all (before six hours were counted: more than 300 of a crawler, or 1,000 of all). Verified search "+
		"engines, webhooks, probes and apps do not count. It ends after five minutes without. It is a note while nearly all of it is refused.")
)

// Bounds of accidents.
const (
	maxWatched  = 10_000             // files at hosts that clients may have invented
	acceptAfter = 7 * 24 * time.Hour // after which a changed file is no accident any more

	refusedFor = time.Minute    // the least time of SearchRefused
	usualHours = 6              // hours that a usual rate is the mean of, at least
	usualFor   = 24 * time.Hour // after which a flood is usual
)

// Accidents has the accidents of the process. They outlive the configuration.
type Accidents struct {
	mu    sync.Mutex
	files map[originID]*watchedFile
	looks int                 // for accidents
	at    time.Time           // of the last look
	list  []statusapi.Problem // at the last look; those with the same key together
	news  news
}

// accidentKey is a kind and the site, or for files the pattern of hosts: one mistake may be in all.
type accidentKey struct{ kind, site string }

func keyOf(p *statusapi.Problem) accidentKey {
	if p.Kind == RulesLost || p.Kind == SearchShutOut {
		return accidentKey{p.Kind, cmp.Or(p.Pattern, p.Sites[0])}
	}
	return accidentKey{p.Kind, p.Sites[0]}
}

func newAccidents() *Accidents {
	return &Accidents{
		files: make(map[originID]*watchedFile),
		news:  news{items: make(map[accidentKey]*newsItem)},
	}
}

// findAll finds the accidents of now. It has the conditions of all, those of changed
// files in watchedFile. The caller holds mu.
func (a *Accidents) findAll(r *Reporter, now time.Time) {
	open := make(map[accidentKey]*statusapi.Problem)
	for i := range slices.Backward(a.list) {
		open[keyOf(&a.list[i])] = &a.list[i]
	}
	list := a.fileAccidents(r, now)
	for _, run := range r.app.Counters.Runs() {
		if p := refusedSearch(&run, now); p.Kind != "" {
			list = append(list, p)
		}
	}
	list = append(list, floods(r.app.Counters.Loads(counters.FloodLeast), open, now)...)
	for _, h := range r.handlers() {
		for _, p := range h.problems() {
			if !p.IsAccident() {
				continue
			}
			if was := open[keyOf(&p)]; p.Since == nil && was != nil {
				p.Since = was.Since
			} else if p.Since == nil {
				p.Since = timeOf(now)
			}
			list = append(list, p)
		}
	}
	isOpen := func(x *statusapi.Problem) bool { // the culprit stays the same as long as it is one
		was := open[keyOf(x)]
		return was != nil && was.Crawler == x.Crawler && was.Subject == x.Subject
	}
	slices.SortFunc(list, func(x, y statusapi.Problem) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(keyOf(&x).site, keyOf(&y).site), before(isOpen(&x), isOpen(&y)),
			cmp.Compare(y.Now, x.Now), cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Crawler, y.Crawler))
	})
	a.list = list
}

// problems returns what steps know of, and what is wrong with the registry.
func (h *Handler) problems() (list []statusapi.Problem) {
	if h.Problems == nil {
		return nil
	}
	for _, p := range h.Problems(h.mode() == statusapi.Monitor) {
		if p.Sites == nil {
			p.Sites = h.Hosts
		}
		p.Severity = cmp.Or(p.Severity, statusapi.Severe)
		if p.IsAccident() {
			p.Subject = statusapi.SiteName(p.Sites[0])
		}
		list = append(list, p)
	}
	return list
}

// fileAccidents returns the accidents of files. A file with an accident is read again
// without requests, so that the accident ends when it is mended. An origin that is
// not in force any more, such as that of another port, counts only until its host has
// another.
func (a *Accidents) fileAccidents(r *Reporter, now time.Time) (list []statusapi.Problem) {
	a.looks++
	var invented []*inForce // whose files are not watched yet
	handlers := r.bySite()
	for p := range r.allInForce(statusapi.AllSites()) {
		if f := a.files[p.id]; f == nil && p.Invented {
			invented = append(invented, new(*p))
		} else {
			a.watch(p, handlers, now)
		}
	}
	for _, p := range invented {
		if len(a.files) < maxWatched || a.files[p.id] != nil {
			a.watch(p, handlers, now)
		}
	}
	for id, f := range a.files {
		if f.look != a.looks && f.Invented && f.Since.IsZero() && len(a.files) >= maxWatched {
			delete(a.files, id)
			continue
		}
		if !f.Since.IsZero() && now.Sub(f.Since) > acceptAfter {
			f.accept()
		}
		if !f.Since.IsZero() && (f.look == a.looks || a.isLeft(f, r)) {
			list = append(list, f.accidents()...)
		}
	}
	return list
}

// watch looks at what is in force at an origin.
func (a *Accidents) watch(p *inForce, handlers siteHandlers, now time.Time) {
	f, unread := a.files[p.id], p.isUnread()
	if f == nil {
		if unread {
			return
		}
		f = &watchedFile{Source: p.SourceID}
		a.files[p.id] = f
	}
	if f.Invented, f.look = p.Invented, a.looks; p.shared {
		f.Sites = p.Hosts
	} else if site := p.SiteOf(p.Origin.Host); f.Host == "" || f.Sites[0] != site {
		f.Host, f.Sites = p.Origin.Host, []string{site}
	}
	if f.configure(handlers, now); unread {
		return
	}
	if p.Settings.SourceKind() == config.SourceInline {
		f.Subject = p.subject()
		return
	}
	f.watch(p, now)
	if !f.Since.IsZero() && now.After(p.Next) {
		p.engine().Origins().Refetch(&judge.Request{Origin: p.Origin, Time: now})
	}
}

// isLeft reports whether a file that is not in force any more belongs to a host of
// which no other file is.
func (a *Accidents) isLeft(f *watchedFile, r *Reporter) bool {
	for _, other := range a.files {
		if other.look == a.looks && other.Source == f.Source && other.Host == f.Host {
			return false
		}
	}
	return slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.SourceID == f.Source && (f.Host == "" || h.Serves(f.Host)) })
}

// isUnread reports whether the last read tells nothing about the file: it failed,
// or its result is not in force yet.
func (p *inForce) isUnread() bool {
	switch p.Last {
	case judge.Pending:
		return true
	case judge.Failed:
		return !errors.Is(p.Err, judge.ErrNULs)
	case judge.Loaded, judge.Missing:
		return p.Kept
	}
	return false
}

// inScope returns what was found in a scope at the last look, one of each key. The caller holds mu.
func (a *Accidents) inScope(scope statusapi.Scope) (list []statusapi.Problem) {
	more := make(map[int]int) // with the same key, by index
	for _, one := range a.list {
		last := len(list) - 1
		switch {
		case !narrow(&one, scope):
		case last >= 0 && keyOf(&list[last]) == keyOf(&one):
			more[last]++
		default:
			list = append(list, one)
		}
	}
	for i, n := range more {
		text := fmt.Sprintf(" (and %d more)", n)
		list[i].Plain = cmp.Or(list[i].Plain, list[i].Message) + text
		list[i].Message += text
	}
	return list
}

// narrow reports whether p is in a scope, and makes it name a site of the scope.
func narrow(p *statusapi.Problem, scope statusapi.Scope) bool {
	site := p.Sites[0]
	if !scope.Site(site) && (p.Pattern == "" || !scope.Site(p.Pattern)) {
		i := slices.IndexFunc(p.Sites, scope.Site)
		if i < 0 {
			return false
		}
		if named := statusapi.SiteName(site); p.Subject == named {
			p.Subject = statusapi.SiteName(p.Sites[i])
			p.Message, p.Advice = strings.ReplaceAll(p.Message, named, p.Subject), strings.ReplaceAll(p.Advice, named, p.Subject)
		}
		site = p.Sites[i]
	}
	p.Sites = append([]string{site}, p.Sites...)
	return true
}

// acceptAt ends the accidents of the files of origins. It returns how many files
// had one.
func (a *Accidents) acceptAt(list []*inForce) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range list {
		if f := a.files[p.id]; f != nil && !f.Since.IsZero() {
			f.accept()
			n++
		}
	}
	return n
}

// save returns the watched files as JSON.
func (a *Accidents) save() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	saved, _ := json.Marshal(a.files) // has no value that can't be written
	return saved
}

// load adds the watched files that save returned. Files that are watched already are left
// out, and those that are damaged, for which it returns an error.
func (a *Accidents) load(saved json.RawMessage) (damaged error) {
	if saved == nil {
		return nil
	}
	var files map[originID]*watchedFile
	if err := json.Unmarshal(saved, &files); err != nil {
		return fmt.Errorf("robots_txt: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, f := range files {
		switch {
		case id == 0 || f == nil || len(f.Sites) == 0 || f.Subject == "":
			damaged = fmt.Errorf("robots_txt: %q has no site or no such name", id)
		case a.files[id] == nil:
			a.files[id] = f
		}
	}
	return damaged
}

// accidents returns the accidents in a scope. The last configuration that was
// loaded looks for them.
func (r *Reporter) accidents(scope statusapi.Scope) []statusapi.Problem {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	if since := r.app.Now().Sub(a.at); len(a.files) <= manyFiles || since < 0 || since >= lookEvery {
		a.look(r)
	}
	return a.inScope(scope)
}

// look looks for accidents, if the configuration is the last one that was loaded. The caller holds mu.
func (a *Accidents) look(r *Reporter) {
	if r.app.Active() {
		a.at = r.app.Now()
		a.findAll(r, a.at)
	}
}

// With more than manyFiles files, the time between two looks is lookEvery: a report of them
// asks several times at once, and events are told as often.
const (
	manyFiles = 1000
	lookEvery = 5 * time.Second
)

var (
	accidentCount = metrics.NewDesc("accidents", "Accidents of now, by kind.", "kind")

	reported = metrics.NewLive(prometheus.GaugeValue, func(reporters []*Reporter, send metrics.Sender) {
		for _, r := range reporters {
			for kind, n := range r.countAccidents() {
				send(accidentCount, float64(n), kind)
			}
		}
	}, accidentCount)
)

// Report makes the metric of accidents that of r, until stop is called.
func (r *Reporter) Report() (stop func()) { return reported.Report(0, r) }

// countAccidents returns the number of accidents of each kind.
func (r *Reporter) countAccidents() map[string]int {
	counts := make(map[string]int)
	for kind := range statusapi.Accidents() {
		counts[kind] = 0
	}
	for _, one := range r.accidents(statusapi.AllSites()) {
		if one.IsAccident() {
			counts[one.Kind]++
		}
	}
	return counts
}
