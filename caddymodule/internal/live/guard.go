package live

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

const (
	guardFor   = 72 * time.Hour     // a weekend
	servedFor  = 7 * 24 * time.Hour // how long ago what a line now refuses must have been served
	maxGuarded = 1024               // crawlers at hosts
	maxServed  = 32                 // targets of each, one of each kind
	maxSpared  = 8                  // lines of each
	maxTarget  = 256                // octets
)

// Guard has what the setting guard did. It remembers some of what verified search
// engines were served in the last days. If a line refuses one of them what it was served
// before, Guard lets it pass there for a while: not where it never was served, and
// nobody else. It is bounded, and safe for concurrent use.
type Guard struct{ engines *table.Table[guarded] }

// guarded is a verified search engine at a host.
type guarded struct {
	last          atomic.Int64
	mu            sync.Mutex
	site, crawler string
	served        [maxServed]servedTarget
	spared        []sparedLine
}

type servedTarget struct {
	target string
	at     time.Time
}

// sparedLine is a line that refuses the crawler.
type sparedLine struct {
	rule         string
	line         int
	first, until time.Time // the first refusal; until when it passes, zero if it does not
	looked       time.Time // whether it was served
	refused      int
}

var guardSeed = maphash.MakeSeed()

// Concerns reports whether a decision is about a verified search engine.
func (g *Guard) Concerns(d *judge.Decision) bool {
	return g != nil && d.Claim.State == verify.Verified && d.Agent.Crawler != nil && d.Agent.Crawler.CountsAs(crawler.Search)
}

func (g *Guard) of(site string, q *judge.Request, d *judge.Decision) *guarded {
	hash := maphash.String(guardSeed, q.Origin.Host) ^ maphash.String(guardSeed, d.Agent.Crawler.Name+" ")
	latest := func(e *guarded) int64 { return e.last.Load() }
	e := g.engines.Add(hash, latest, func(e *guarded) { e.site, e.crawler = site, d.Agent.Crawler.Name })
	e.last.Store(q.Time.UnixNano())
	return e
}

// Served notes that a verified search engine was served.
func (g *Guard) Served(site string, q *judge.Request, d *judge.Decision) {
	if d.Action != judge.Pass || d.Reason == judge.Graced || len(q.Target) > maxTarget {
		return
	}
	path, query, _ := strings.Cut(q.Target, "?")
	folder, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '.')+1:]
	key, _, _ := strings.Cut(query, "=")
	kind := maphash.String(guardSeed, folder+" "+key+" "+name[:min(len(name), 4)]) % maxServed
	e := g.of(site, q, d)
	e.mu.Lock()
	defer e.mu.Unlock()
	if q.Time.Sub(e.served[kind].at) > time.Minute {
		e.served[kind] = servedTarget{strings.Clone(q.Target), q.Time}
	}
}

// Spares reports whether a request that a line refuses passes, because the search
// engine was served there before.
func (g *Guard) Spares(site string, q *judge.Request, d *judge.Decision) bool {
	if d.Action != judge.Deny || d.Reason != judge.Disallowed || d.Monitored || d.Group == nil {
		return false
	}
	e, rule := g.of(site, q, d), d.Layer.String()+" "+d.RuleText()
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.spared, func(s sparedLine) bool { return s.rule == rule })
	if i < 0 {
		if len(e.spared) == maxSpared {
			e.spared = slices.Delete(e.spared, 0, 1)
		}
		e.spared, i = append(e.spared, sparedLine{rule: rule, first: q.Time, looked: q.Time}), len(e.spared)
	}
	s := &e.spared[i]
	s.line = d.Line
	s.refused++
	if q.Time.Before(s.until) || q.Time.Sub(s.looked) < refusedFor {
		return q.Time.Before(s.until)
	}
	s.looked = q.Time
	switch served := e.servedBelow(q, d); {
	case served.IsZero():
	case served.After(s.first): // it passed meanwhile: this is another change
		s.first, s.until, s.refused = q.Time, time.Time{}, 1
	case s.until.IsZero():
		s.until = q.Time.Add(guardFor)
	}
	return q.Time.Before(s.until)
}

// servedBelow returns when a target was served last that the line of a decision now
// refuses; zero if none was.
func (e *guarded) servedBelow(q *judge.Request, d *judge.Decision) (latest time.Time) {
	for _, s := range e.served {
		if s.target == "" || q.Time.Sub(s.at) > servedFor || s.at.Before(latest) {
			continue
		}
		if v := d.Group.Match(s.target); s.target == q.Target || !v.Allowed && v.Rule().Pattern == d.Rule.Pattern {
			latest = s.at
		}
	}
	return latest
}

// end lets lines refuse again at sites or hosts: the operator insists.
func (g *Guard) end(sites []string, now time.Time) {
	for e := range g.engines.All() {
		e.mu.Lock()
		for i := range e.spared {
			if s := &e.spared[i]; slices.Contains(sites, e.site) && s.until.After(now) {
				s.until = now
			}
		}
		e.mu.Unlock()
	}
}

// acted returns the accidents of the lines that do not refuse.
func (g *Guard) acted(now time.Time) (list []Accident) {
	for e := range g.engines.All() {
		e.mu.Lock()
		for _, s := range e.spared {
			if !s.until.After(now) {
				continue
			}
			a := Accident{Kind: GuardActed, Site: e.site, Crawler: e.crawler, Line: s.line, Since: s.until.Add(-guardFor), Now: s.refused,
				subject: siteName(e.site), sites: []string{e.site}}
			a.message = fmt.Sprintf("%s, a verified search engine, is disallowed at %s what it was served before (line %d); the setting `guard` "+
				"lets its verified requests pass there until %s, and enforces the line then", e.crawler, a.subject, s.line, formatTime(s.until, now))
			a.advice = "Mend the line. If it is on purpose, set the mode `" + statusapi.Enforce + "` through the admin API."
			list = append(list, a)
		}
		e.mu.Unlock()
	}
	return list
}
