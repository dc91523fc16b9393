package suggest

import (
	"net/url"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/robots"
)

// evidence is what the log says about some paths.
type evidence struct {
	robots tally // requests of robots that a limit holds
	// held are the names of these robots, at most maxAddresses.
	held map[string]bool
	// free is true if the paths have feeds, or if people come to them from other sites.
	// Then no limit is proposed.
	free bool
}

// tally adds up requests.
type tally struct {
	cost.Sum
	addresses map[uint64]struct{} // at most maxAddresses
	targets   uint64              // the sum of hashes of the targets: the same for the same requests
	file      *robots.File        // that applies to the crawler
}

// maxAddresses is the largest number of addresses that a tally tells apart.
const maxAddresses = 1000

func (t *tally) add(r *audit.Judged) {
	t.merge(&tally{Sum: r.Sum, targets: xxhash.Sum64String(r.Target)})
	t.addAddress(xxhash.Sum64String(r.Client))
}

// merge adds another tally.
func (t *tally) merge(o *tally) {
	t.Add(o.Sum)
	t.targets += o.targets
	for a := range o.addresses {
		t.addAddress(a)
	}
}

// addAddress adds the hash of an address.
func (t *tally) addAddress(hash uint64) {
	if t.addresses == nil {
		t.addresses = make(map[uint64]struct{})
	}
	if len(t.addresses) < maxAddresses {
		t.addresses[hash] = struct{}{}
	}
}

// isNameable reports whether a policy may name the crawler.
// The others bring people to the site, or act for them.
func isNameable(row *crawler.Crawler) bool {
	return row != nil && row.Class == crawler.Registered && !row.ControlOnly && len(row.Robots) > 0 && len(row.Purposes) > 0 &&
		(row.Purposes[0] == crawler.AIData || slices.Contains(purposes, row.Purposes[0])) && !isSearch(row)
}

// isSearch reports whether the crawler is that of a search engine.
func isSearch(row *crawler.Crawler) bool { return row != nil && row.CountsAs(crawler.Search) }

// isHeld reports whether the client is a robot that a limit holds.
func isHeld(a *crawler.Agent) bool {
	switch a.Class {
	case crawler.Registered, crawler.Named, crawler.SelfDeclared, crawler.Scraper:
		return !isSearch(a.Crawler) && (a.Crawler == nil || !a.Crawler.CountsAs(crawler.Ads))
	}
	return false
}

// survey reads the log and collects the evidence.
type survey struct {
	units    []*unit
	any      *robots.Group // has the patterns of all units
	whole    cost.Sum
	crawlers map[*crawler.Crawler]*tally // nameable ones whose requests pass
}

func newSurvey(costs *audit.Costs) *survey {
	s := &survey{units: units(costs), crawlers: make(map[*crawler.Crawler]*tally)}
	var all []string
	for _, u := range s.units {
		all = append(all, u.patterns...)
		u.held = make(map[string]bool)
	}
	s.any = target.Group(all...)
	return s
}

// count counts a request.
func (s *survey) count(r *audit.Judged) {
	s.whole.Add(r.Sum)
	answered := r.Status > 0 && r.Status < 400
	d := &r.Rulings[0]
	if judge.IsRobotsTxt(r.Target) {
		return
	}
	held := isHeld(&d.Agent) && d.Action == judge.Pass
	if row := d.Agent.Crawler; held && isNameable(row) {
		t := s.crawlers[row]
		if t == nil {
			t = new(tally)
			s.crawlers[row] = t
		}
		t.add(r)
		t.file = d.Rules.File()
	}
	if !target.Matches(s.any, r.Target) {
		return
	}
	for _, u := range s.units {
		if !target.Matches(u.group, r.Target) {
			continue
		}
		if held {
			u.robots.add(r)
			if name := d.Agent.Name(); len(u.held) < maxAddresses && !u.held[name] {
				u.held[strings.Clone(name)] = true
			}
		}
		if answered && (target.IsFeed(r.Target) || d.Agent.Class == crawler.Person && isFromElsewhere(r)) {
			u.free = true
		}
	}
}

// isFromElsewhere reports whether the Referer is a page of another site, such as a
// search engine.
func isFromElsewhere(r *audit.Judged) bool {
	u, err := url.Parse(r.Referer)
	return err == nil && u.Host != "" && !strings.EqualFold(u.Hostname(), r.Host)
}
