package counters

import (
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// MaxPause is the longest time between two refusals of a run.
const MaxPause = 10 * time.Minute

const pauseSeconds = int64(MaxPause / time.Second)

// unmeant tells refusals of verified search engines that the operator most likely does not want
// from all else.
type unmeant uint8

const (
	unmeantRefusal unmeant = iota + 1
	unmeantByName          // the group for `*` would let the request pass
)

// Run is a run of refusals: of requests of a verified search engine at one site,
// with a pause of at most MaxPause between two. Refusals that the operator wants
// are left out: by the configuration, by the pace that a group gives to the
// crawler by name, and by a file that disallows the whole site.
type Run struct {
	Site, Crawler string
	Pattern       string // that the host Site matches; "" for a site
	Since, Last   time.Time
	Refused       int // in the last day
	ByName        int // of Refused, those that the group for `*` would let pass
	Served        int // requests since the first refusal, in the last day, that were let through
	Line          int // of robots.txt, that refused the last one; 0 if none did
}

// unmeantOf returns what a decision is.
func unmeantOf(d *judge.Decision, r *Request) unmeant {
	if d.Action == judge.Pass || d.Monitored || d.Claim.State != claim.Verified || d.Agent.Crawler == nil ||
		!d.Agent.Crawler.CountsAs(crawler.Search) {
		return 0
	}
	isNamed := d.Rules != nil && d.Group != nil && d.Group != d.Rules.File().Star()
	isPaced := isNamed && d.Reason.Info().Field != ""
	switch {
	case d.Layer != judge.NoLayer && d.Layer != judge.FileLayer, isPaced:
		return 0
	case d.Reason == judge.Disallowed && isNamed && !d.Rules.DisallowsStar(r.Target):
		return unmeantByName
	case d.Reason == judge.Disallowed && !d.Group.Match("/").Allowed:
		return 0
	}
	return unmeantRefusal
}

// Runs returns the latest run of each search engine at each site, in no order, but those
// that are over for long.
func (c *Counters) Runs() (list []Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	type key struct {
		site    *Site
		crawler string
	}
	now, found := c.now(), make(map[key]*Run)
	all := c.walk()
	for r := range all {
		last := time.Unix(r.Last, 0)
		if r.Unmeant == 0 || now.Sub(last) > 2*MaxPause {
			continue
		}
		at, began := key{r.site, r.Crawler}, time.Unix(max(r.began.Load(), r.Last-24*60*60), 0)
		run := found[at]
		if run == nil {
			run = &Run{Site: r.site.name, Pattern: r.site.patternName(), Crawler: r.Crawler, Since: began}
			found[at] = run
		}
		if began.Before(run.Since) {
			run.Since = began
		}
		if !last.Before(run.Last) {
			run.Last, run.Line = last, int(r.Number)
		}
	}
	if len(found) == 0 {
		return nil
	}
	for r := range all {
		run := found[key{r.site, r.Crawler}]
		if run == nil || r.Claim != claim.Verified || r.Monitor {
			continue
		}
		n := int(r.Past.since(minuteOf(run.Since), c.at))
		switch {
		case r.Unmeant != 0:
			run.Refused += n
			if r.Unmeant == unmeantByName {
				run.ByName += n
			}
		case r.action() == judge.Pass && r.Reason != judge.ExemptPath:
			run.Served += n
		}
	}
	for _, run := range found {
		list = append(list, *run)
	}
	return list
}
