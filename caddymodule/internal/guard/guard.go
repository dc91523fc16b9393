// Package guard is the setting guard: verified search engines keep for a while what they
// were served before, where a line of robots.txt now refuses it.
package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

const (
	lookEvery  = time.Minute        // between two looks whether what a line refuses was served
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
// nobody else. It is bounded, and safe for concurrent use. The file of the setting
// persist keeps it over a restart.
type Guard struct{ engines *table.Table[guarded] }

// New returns a Guard that remembers nothing.
func New() *Guard { return &Guard{table.New[guarded](maxGuarded)} }

// guarded is a verified search engine at a host. Its JSON is in the file of the setting
// persist.
type guarded struct {
	last    atomic.Int64
	mu      sync.Mutex
	Site    string                  `json:"site"`
	Host    string                  `json:"host"`
	Crawler string                  `json:"crawler"`
	Served  map[uint64]servedTarget `json:"served"` // by kind, below maxServed
	Spared  []sparedLine            `json:"spared,omitempty"`
}

type servedTarget struct {
	Target string    `json:"target"`
	At     time.Time `json:"at"`
}

// sparedLine is a line that refuses the crawler.
type sparedLine struct {
	Rule    uint64    `json:"rule"` // a hash
	Line    int       `json:"line"`
	First   time.Time `json:"first"`          // the first refusal
	Until   time.Time `json:"until,omitzero"` // until when it passes, zero if it does not
	Looked  time.Time `json:"looked"`         // when it was looked whether it was served
	Refused int       `json:"refused"`
}

// Concerns reports whether a decision is about a verified search engine.
func (g *Guard) Concerns(d *judge.Decision) bool {
	return g != nil && d.Claim.State == verify.Verified && d.Agent.Crawler != nil && d.Agent.Crawler.CountsAs(crawler.Search)
}

var guardSeed = maphash.MakeSeed()

func guardKey(host, crawler string) uint64 {
	return maphash.String(guardSeed, host) ^ maphash.String(guardSeed, crawler+" ")
}

// of returns a crawler at a host, locked, and notes that it came.
func (g *Guard) of(site, host, crawler string, now time.Time) *guarded {
	latest := func(e *guarded) int64 { return e.last.Load() }
	e := g.engines.Add(guardKey(host, crawler), latest, func(e *guarded) {
		e.Site, e.Host, e.Crawler, e.Served = site, strings.Clone(host), crawler, make(map[uint64]servedTarget)
	})
	e.last.Store(max(e.last.Load(), now.UnixNano()))
	e.mu.Lock()
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
	kind := xxhash.Sum64String(folder+" "+key+" "+name[:min(len(name), 4)]) % maxServed
	e := g.of(site, q.Origin.Host, d.Agent.Crawler.Name, q.Time)
	defer e.mu.Unlock()
	if q.Time.Sub(e.Served[kind].At) > time.Minute {
		e.Served[kind] = servedTarget{strings.Clone(q.Target), q.Time}
	}
}

// Spares reports whether a request that a line refuses passes, because the search
// engine was served there before.
func (g *Guard) Spares(site string, q *judge.Request, d *judge.Decision) bool {
	if d.Action != judge.Deny || d.Reason != judge.Disallowed || d.Monitored || d.Group == nil {
		return false
	}
	e, rule := g.of(site, q.Origin.Host, d.Agent.Crawler.Name, q.Time), xxhash.Sum64String(d.Layer.String()+" "+d.RuleText())
	defer e.mu.Unlock()
	s := e.sparedLine(rule, q.Time)
	s.Line = d.Line
	s.Refused++
	if q.Time.Before(s.Until) || q.Time.Sub(s.Looked) < lookEvery {
		return q.Time.Before(s.Until)
	}
	s.Looked = q.Time
	switch served := e.servedBelow(q, d); {
	case served.IsZero():
	case served.After(s.First): // it passed meanwhile: this is another change
		s.First, s.Until, s.Refused = q.Time, time.Time{}, 1
	case s.Until.IsZero():
		s.Until = q.Time.Add(guardFor)
	}
	return q.Time.Before(s.Until)
}

// sparedLine returns the line with a rule. If it is new, it refuses since now.
func (e *guarded) sparedLine(rule uint64, now time.Time) *sparedLine {
	i := slices.IndexFunc(e.Spared, func(s sparedLine) bool { return s.Rule == rule })
	if i < 0 {
		e.Spared = append(e.Spared[max(0, len(e.Spared)-maxSpared+1):], sparedLine{Rule: rule, First: now, Looked: now})
		i = len(e.Spared) - 1
	}
	return &e.Spared[i]
}

// servedBelow returns when a target was served last that the line of a decision now
// refuses; zero if none was.
func (e *guarded) servedBelow(q *judge.Request, d *judge.Decision) (latest time.Time) {
	for _, s := range e.Served {
		if q.Time.Sub(s.At) > servedFor || s.At.Before(latest) {
			continue
		}
		if v := d.Group.Match(s.Target); s.Target == q.Target || !v.Allowed && v.Rule().Pattern == d.Rule.Pattern {
			latest = s.At
		}
	}
	return latest
}

// End lets lines refuse again at sites or hosts: the operator insists.
func (g *Guard) End(sites []string, now time.Time) {
	for e := range g.engines.All() {
		e.mu.Lock()
		for i := range e.Spared {
			if s := &e.Spared[i]; slices.Contains(sites, e.Site) && s.Until.After(now) {
				s.Until = now
			}
		}
		e.mu.Unlock()
	}
}

// Acted is a line that does not refuse a crawler now.
type Acted struct {
	Site, Crawler string
	Line, Refused int // requests that it would have refused
	Since, Until  time.Time
}

// Acted returns the lines that do not refuse. It forgets the crawlers that did not come
// for so long that nothing of them counts.
func (g *Guard) Acted(now time.Time) (list []Acted) {
	for e := range g.engines.All() {
		if now.UnixNano()-e.last.Load() > int64(servedFor) {
			g.engines.Remove(guardKey(e.Host, e.Crawler))
			continue
		}
		e.mu.Lock()
		for _, s := range e.Spared {
			if s.Until.After(now) {
				list = append(list, Acted{e.Site, e.Crawler, s.Line, s.Refused, s.Until.Add(-guardFor), s.Until})
			}
		}
		e.mu.Unlock()
	}
	return list
}

// Save returns what is remembered, as JSON.
func (g *Guard) Save() (saved []json.RawMessage) {
	for e := range g.engines.All() {
		e.mu.Lock()
		text, _ := json.Marshal(e) // has no value that can't be written
		e.mu.Unlock()
		saved = append(saved, text)
	}
	return saved
}

// Load adds what Save returned, but for what is damaged, for which it returns an error.
// What the process noted meanwhile counts if it is later.
func (g *Guard) Load(saved []json.RawMessage) (damaged error) {
	for _, text := range saved {
		var from guarded
		err := json.Unmarshal(text, &from)
		if err == nil && from.Crawler == "" {
			err = errors.New("a crawler has no name")
		}
		if err != nil {
			damaged = fmt.Errorf("guard: %w", err)
			continue
		}
		e := g.of(from.Site, from.Host, from.Crawler, time.Time{})
		for kind, s := range from.Served {
			if kind < maxServed && e.Served[kind].At.Before(s.At) {
				e.Served[kind] = s
				e.last.Store(max(e.last.Load(), s.At.UnixNano()))
			}
		}
		for _, s := range from.Spared[:min(len(from.Spared), maxSpared)] {
			*e.sparedLine(s.Rule, s.First) = s
			e.last.Store(max(e.last.Load(), s.Looked.UnixNano()))
		}
		e.mu.Unlock()
	}
	return damaged
}
