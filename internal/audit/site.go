package audit

import (
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Site is a site whose requests are in the log.
type Site struct {
	// Hosts are the names of its hosts. The first label may be a wildcard, as in
	// *.example.com. A site without Hosts gets the requests for all hosts that no
	// other site names.
	Hosts []string
	Rules enforce.Settings
	// Robots are the versions of its robots.txt, in any order. If there are none, its
	// requests are not judged.
	Robots []Version
	// Was are the versions that Robots is compared with, if Options.Compare is set.
	Was []Version
	// Suspects says how the site looks for suspects; nil if it does not.
	Suspects *SuspectRules
}

// site is a Site with its policies parsed.
type site struct {
	Site
	replay  *enforce.Replay
	sources []*source
	unknown *enforce.Edition // for times at which no robots.txt is known
	longest time.Duration    // the longest Crawl-delay that is enforced

	before        *enforce.Replay // for Site.Was; nil without Options.Compare
	beforeSources []*source
	beforeUnknown *enforce.Edition
}

// addSites parses the policies of the sites. It adds one more site for hosts that
// belong to none.
func (a *auditor) addSites() error {
	for _, given := range append(a.options.Sites, Site{}) {
		s := &site{Site: given, longest: longestDelay(&given.Rules)}
		var err error
		if s.replay, err = enforce.NewReplay(given.Rules); err != nil {
			return err
		}
		var hidden []int
		if m := given.Rules.Managed; m != nil {
			for _, h := range m.Hidden {
				hidden = append(hidden, h.Line)
			}
		}
		s.sources = newSources(s.replay, given.Robots, hidden)
		s.unknown = s.replay.Edition(enforce.Response{Status: http.StatusNotFound}, time.Time{}, nil)
		if a.options.Compare {
			if s.before, err = enforce.NewReplay(given.Rules); err != nil {
				return err
			}
			s.beforeSources = newSources(s.before, given.Was, hidden)
			s.beforeUnknown = s.before.Edition(enforce.Response{Status: http.StatusNotFound}, time.Time{}, nil)
		}
		a.sites = append(a.sites, s)
	}
	index, before := 0, 0
	for _, s := range a.sites {
		for _, src := range s.sources {
			src.index = index
			index++
		}
		for _, src := range s.beforeSources {
			src.index = before
			before++
		}
	}
	return nil
}

// at returns the robots.txt that was in force at a time, in nanoseconds since 1970.
// The source is nil if none is known.
func (s *site) at(nanos int64) (*source, *enforce.Edition) {
	if src := sourceAt(s.sources, nanos); src != nil {
		return src, src.edition
	}
	return nil, s.unknown
}

// editionBefore is at for Site.Was.
func (s *site) editionBefore(nanos int64) *enforce.Edition {
	if src := sourceAt(s.beforeSources, nanos); src != nil {
		return src.edition
	}
	return s.beforeUnknown
}

// mergeRules moves the counts of one crawler at all rules to another crawler.
func (a *auditor) mergeRules(from, to *crawlerTally) {
	for _, s := range a.sites {
		for _, src := range s.sources {
			src.merge(from, to)
		}
	}
	for _, v := range a.pending {
		if v.crawler == from {
			v.crawler = to
		}
	}
}
