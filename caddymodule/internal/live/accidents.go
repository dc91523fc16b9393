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

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// The kinds of an Accident: when each begins and ends.
const (
	// robots.txt had rules, and lost them: it is missing, another text, empty or only NULs,
	// shrank to less than a tenth, or its URL answers another 4xx than 429 or redirects to
	// another host. It ends when the file has them again.
	RulesLost = "rules_lost"
	// robots.txt now disallows `/` to `*` or to a search engine, and did not before. It ends
	// when the file no longer does.
	SearchShutOut = "search_shut_out"
	// For at least a minute, a verified search engine is refused where the group for `*` would
	// let it pass, or is refused more often than it is served. It ends after ten minutes
	// without a refusal.
	SearchRefused = "search_refused"
	// Within a minute, one crawler, or all together, send more than 100 requests to a site,
	// more than ten times as many as usual, and a fifth of all (before six hours were counted:
	// more than 300 of one, or 1,000 of all). Verified search engines do not count. It ends
	// after five minutes without. It is a note while nearly all of it is refused.
	Flood = "flood"
	// The server is busy, so that `shed` refuses crawlers.
	Shedding = statusapi.Busy
	// Many addresses request pages of `challenge`, or others, and nothing else. It ends when they have been few for five minutes. With
	// `challenge`, it is a note.
	Strangers = statusapi.Strangers
	// The Redis of a `fleet` has not answered for ten seconds: each server counts alone. It
	// ends when Redis answers.
	FleetLost = statusapi.FleetLost
)

// Accident is something that the operator most likely did not want. Cause, Crawler
// and Site have only fixed words, names of the registry, and what the operator
// named, so that they may be arguments of a command.
type Accident struct {
	statusapi.Problem
	Site  string // the site, or the host that only a pattern names
	Cause string // of `rules_lost`: `missing`, `not_robots`, `empty`, `nuls`, `forbidden`, `redirected` or `shrunk`

	sites   []string // whose scopes have it
	pattern string   // that the host Site matches; "" for a site
	more    int      // further ones with the same Kind and Site
	peak    int      // of a flood: the most requests in a minute
	plain   string   // Message without text of clients or of a robots.txt; "" for Message
}

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
	looks int              // for accidents
	at    time.Time        // of the last look
	list  []Accident       // at the last look; those with the same Kind and Site together
	loads []*counters.Load // at the last look
	news  news
}

type accidentKey struct{ kind, site string }

// key returns the same for the files of all hosts of a pattern: one mistake may be in all.
func (a *Accident) key() accidentKey {
	if a.Kind == RulesLost || a.Kind == SearchShutOut {
		return accidentKey{a.Kind, cmp.Or(a.pattern, a.Site)}
	}
	return accidentKey{a.Kind, a.Site}
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
	open := make(map[accidentKey]*Accident)
	for i := range slices.Backward(a.list) {
		open[a.list[i].key()] = &a.list[i]
	}
	list := a.fileAccidents(r, now)
	for _, run := range r.app.Counters.Runs() {
		if run.Last.Sub(run.Since) >= refusedFor && now.Sub(run.Last) <= counters.MaxPause && (run.ByName > 0 || run.Refused > run.Served) {
			list = append(list, refusedSearch(&run, now))
		}
	}
	a.loads = r.app.Counters.Loads(counters.FloodLeast)
	list = append(list, loadAccidents(a.loads, open, now)...)
	list = append(list, r.featureAccidents()...)
	isOpen := func(x *Accident) bool { // the culprit stays the same as long as it is one
		was := open[x.key()]
		return was != nil && was.Crawler == x.Crawler && was.Subject == x.Subject
	}
	slices.SortFunc(list, func(x, y Accident) int {
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.key().site, y.key().site), before(isOpen(&x), isOpen(&y)),
			cmp.Compare(y.Now, x.Now), cmp.Compare(x.Subject, y.Subject), cmp.Compare(x.Crawler, y.Crawler))
	})
	a.list = list
}

// fileAccidents returns the accidents of files. A file with an accident is read again
// without requests, so that the accident ends when it is mended. An origin that is
// not in force any more, such as that of another port, counts only until its host has
// another.
func (a *Accidents) fileAccidents(r *Reporter, now time.Time) (list []Accident) {
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

// inScope returns the accidents in a scope, one of each Kind and Site, as they were at
// the last look. The caller holds mu.
func (a *Accidents) inScope(scope statusapi.Scope) (list []Accident) {
	for _, one := range a.list {
		switch {
		case !one.narrow(scope):
		case len(list) > 0 && list[len(list)-1].key() == one.key():
			list[len(list)-1].more++
		default:
			list = append(list, one)
		}
	}
	return list
}

// narrow reports whether a is in a scope, and makes it name a site of the scope.
func (a *Accident) narrow(scope statusapi.Scope) bool {
	if scope.Site(a.Site) || a.pattern != "" && scope.Site(a.pattern) {
		return true
	}
	i := slices.IndexFunc(a.sites, scope.Site)
	if i < 0 {
		return false
	}
	if named := siteName(a.Site); a.Subject == named {
		a.Subject = siteName(a.sites[i])
		a.Message, a.Advice = strings.ReplaceAll(a.Message, named, a.Subject), strings.ReplaceAll(a.Advice, named, a.Subject)
	}
	a.Site = a.sites[i]
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

// save returns the watched files as JSON, by originID.
func (a *Accidents) save() map[string]json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	saved := make(map[string]json.RawMessage, len(a.files))
	for id, f := range a.files {
		saved[id.String()], _ = json.Marshal(f) // has no value that can't be written
	}
	return saved
}

// load adds the watched files that save returned. Files that are watched already
// are left out, and those that are damaged, for which it returns an error.
func (a *Accidents) load(saved map[string]json.RawMessage) (damaged error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, text := range saved {
		f := new(watchedFile)
		id, err := parseID(name), json.Unmarshal(text, f)
		switch {
		case err != nil:
			damaged = fmt.Errorf("robots.txt %q: %w", name, err)
		case id == 0:
			damaged = fmt.Errorf("robots.txt %q has no such name", name)
		case len(f.Sites) == 0 || f.Subject == "":
			damaged = fmt.Errorf("robots.txt %q has no site", name)
		case a.files[id] == nil:
			a.files[id] = f
		}
	}
	return damaged
}

// accidents returns the accidents in a scope. The last configuration that was
// loaded looks for them.
func (r *Reporter) accidents(scope statusapi.Scope) []Accident {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	now := r.app.Now()
	if since := now.Sub(a.at); r.app.Active() && (len(a.files) <= manyFiles || since < 0 || since >= lookEvery) {
		a.findAll(r, now)
		a.at = now
	}
	return a.inScope(scope)
}

// With more than manyFiles files, the time between two looks is lookEvery: a report of them
// asks several times at once.
const (
	manyFiles = 1000
	lookEvery = time.Second
)

// CountAccidents returns the number of accidents of each kind.
func (r *Reporter) CountAccidents() map[string]int {
	counts := map[string]int{RulesLost: 0, SearchShutOut: 0, SearchRefused: 0, Flood: 0, Shedding: 0, Strangers: 0, FleetLost: 0}
	for _, one := range r.accidents(statusapi.AllSites()) {
		counts[one.Kind]++
	}
	return counts
}

// problem returns the problem of an accident.
func (a *Accident) problem() statusapi.Problem {
	p := a.Problem
	p.Sites = []string{a.Site}
	p.Tenant = a.pattern != "" && (a.Kind == RulesLost || a.Kind == SearchShutOut)
	if a.more > 0 {
		p.Message += fmt.Sprintf(" (and %d more at %s)", a.more, siteName(a.key().site))
	}
	return p
}

// siteName returns the name of Accident.Site for people.
func siteName(site string) string {
	if site == statusapi.AnySite {
		return "this server"
	}
	return site
}
