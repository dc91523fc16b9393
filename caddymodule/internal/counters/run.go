package counters

import (
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// MaxPause is the longest time between two refusals of a run.
const MaxPause = 10 * time.Minute

// run counts the latest run of refusals of a verified search engine at a site.
// Requests that begin a run at the same time may be counted less.
type run struct {
	since, last             atomic.Int64 // first and last refusal, in seconds since 1970
	refused, byName, served atomic.Int64
	line                    atomic.Int64
}

// Run is a run of refusals: of requests of a verified search engine at one site,
// with a pause of at most MaxPause between two. Refusals that the operator wants
// are left out: by the configuration, by the pace that a group gives to the
// crawler by name, and by a file that disallows the whole site.
type Run struct {
	Site, Crawler string
	Pattern       string // that the host Site matches; "" for a site
	Since, Last   time.Time
	Refused       int
	ByName        int // of Refused, those that the group for `*` would let pass
	Served        int // requests since the first refusal that were let through
	Line          int // of robots.txt, that refused the last one; 0 if none did
}

// count counts a decision about a verified search engine.
func (s *run) count(d *judge.Decision, r *Request) {
	if d.Action == judge.Pass {
		if d.Reason != judge.ExemptPath {
			s.served.Add(1)
		}
		return
	}
	byName := false
	switch {
	case d.Layer != judge.NoLayer && d.Layer != judge.FileLayer, isPacedByName(d):
		return
	case d.Reason == judge.Disallowed:
		byName = isNamed(d) && !d.Rules.DisallowsStar(r.Target)
		if !byName && !d.Group.Match("/").Allowed {
			return
		}
	}
	now := r.Time.Unix()
	if now-s.last.Swap(now) > int64(MaxPause/time.Second) {
		s.since.Store(now)
		s.refused.Store(0)
		s.byName.Store(0)
		s.served.Store(0)
	}
	s.refused.Add(1)
	if byName {
		s.byName.Add(1)
	}
	s.line.Store(int64(d.Line))
}

// isNamed reports whether a group that names the crawler applies to it.
func isNamed(d *judge.Decision) bool {
	return d.Rules != nil && d.Group != nil && d.Group != d.Rules.File().Star()
}

// isPacedByName reports whether the operator gives this crawler by name the pace
// that it does not keep.
func isPacedByName(d *judge.Decision) bool {
	return d.Reason.Info().Field != "" && isNamed(d)
}

// isSearch reports whether a decision is about a verified search engine.
func isSearch(d *judge.Decision) bool {
	return d.Claim.State == claim.Verified && d.Agent.Crawler != nil && d.Agent.Crawler.CountsAs(crawler.Search)
}

// Runs returns the latest run of each search engine at each site, in no order. It forgets
// those that are over for long.
func (c *Counters) Runs() (list []Run) {
	for key := range c.running.Range {
		from := key.(*Crawler)
		run := &from.run
		last := time.Unix(run.last.Load(), 0)
		if c.now().Sub(last) > 2*MaxPause {
			c.running.Delete(key)
			continue
		}
		list = append(list, Run{
			Site: from.site.name, Pattern: from.site.patternName(), Crawler: from.name, Since: time.Unix(run.since.Load(), 0), Last: last,
			Refused: int(run.refused.Load()), ByName: int(run.byName.Load()), Served: int(run.served.Load()), Line: int(run.line.Load()),
		})
	}
	return list
}
