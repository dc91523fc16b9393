package audit

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
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

// site is a Site with its robots.txt files parsed.
type site struct {
	Site
	now *timeline
	was *timeline // nil without Options.Compare
}

// timeline is the versions of a robots.txt in order of time.
type timeline struct {
	replay  *enforce.Replay
	sources []*source
	unknown *enforce.Edition // for times at which no robots.txt is known
	longest time.Duration    // the longest Crawl-delay that is enforced
}

// addSites parses the robots.txt files of the sites. It adds one more site for hosts
// that belong to none.
func (a *auditor) addSites() (err error) {
	index, before := 0, 0
	for _, given := range append(a.options.Sites, Site{}) {
		s := &site{Site: given}
		if s.now, err = newTimeline(&given.Rules, given.Robots, &index); err != nil {
			return err
		}
		if a.options.Compare {
			if s.was, err = newTimeline(&given.Rules, given.Was, &before); err != nil {
				return err
			}
		}
		a.sites = append(a.sites, s)
	}
	return nil
}

// newTimeline parses the versions of a robots.txt. index is that of the first source,
// and becomes that of the next timeline's.
func newTimeline(rules *enforce.Settings, versions []Version, index *int) (*timeline, error) {
	replay, err := enforce.NewReplay(*rules)
	if err != nil {
		return nil, err
	}
	t := &timeline{replay: replay, longest: cmp.Or(max(rules.MaxDelay, 0), throttle.DefaultMaxDelay)}
	t.sources = newSources(replay, versions, index)
	t.unknown = replay.Edition(enforce.Response{Status: http.StatusNotFound}, time.Time{}, nil)
	return t, nil
}

// at returns the robots.txt that was in force at a time, in nanoseconds since 1970.
// The source is nil if none is known.
func (t *timeline) at(nanos int64) (*source, *enforce.Edition) {
	for _, s := range slices.Backward(t.sources) {
		if s.from == 0 || nanos >= s.from {
			return s, s.edition
		}
	}
	return nil, t.unknown
}
