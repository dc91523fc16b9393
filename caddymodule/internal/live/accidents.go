package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
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
		"engines, webhooks, probes and apps do not count. It ends after five minutes without. It is a note while nearly all is refused.")
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
	looks int       // for accidents
	at    time.Time // of the last look
	list  []found   // at the last look
	news  news
}

func newAccidents() *Accidents {
	return &Accidents{
		files: make(map[originID]*watchedFile),
		news:  news{items: make(map[problemKey]*newsItem)},
	}
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

var (
	accidentCount = metrics.NewDesc("accidents", "Accidents of now, without notes, by kind.", "kind")

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
		if one.IsAccident() && isTrouble(one) {
			counts[one.Kind]++
		}
	}
	return counts
}
