package audit

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/cespare/xxhash/v2"
)

// Host counts the requests for one host.
type Host struct {
	Name     string // "other" if Rest is set
	Rest     bool   // the row has all hosts without a row of their own
	Requests int64
	Robots   int64 // requests of robots
	Octets   int64 // of the responses to these
	Refused  int64 // requests that would have been refused
	// Known is true if a robots.txt was known for it.
	Known bool

	origin judge.Origin
	hash   uint64 // of its name
	site   *site
}

// filter says which requests count, by their hosts: all if it is empty.
type filter struct {
	hosts map[string]bool // empty: all
	sites []*site         // of which the first gets the requests; nil: any may
}

// newFilter returns the filter of o.Hosts and o.Only.
func newFilter(o *Options, sites []*site) filter {
	f := filter{hosts: make(map[string]bool)}
	for _, host := range o.Hosts {
		f.hosts[judge.NewOrigin("", host, 0).Host] = true
	}
	if o.Only {
		f.sites = sites
	}
	return f
}

// isAll reports whether all requests count.
func (f *filter) isAll() bool { return len(f.hosts) == 0 && f.sites == nil }

// String returns the first five hosts in alphabetical order.
func (f *filter) String() string {
	if len(f.hosts) == 0 {
		return words.List(f.sites[0].Hosts, 5)
	}
	return words.List(slices.Sorted(maps.Keys(f.hosts)), 5)
}

// selects reports whether requests for a host, as a client sent it, count.
func (f *filter) selects(raw string) bool {
	if f.isAll() {
		return true
	}
	host := judge.NewOrigin("", raw, 0).Host
	return (len(f.hosts) == 0 || f.hosts[host]) && (f.sites == nil || siteOf(f.sites, host) == f.sites[0])
}

// hosts counts requests by host.
type hosts struct {
	sites []*site
	named map[string]*Host // by the normalized host
	rest  *Host            // of hosts for which there was no room
}

// Limits for hosts.
const (
	maxHosts = 10_000 // counted separately
	topHosts = 100    // in the report
)

// newHosts returns hosts that belong to sites.
func newHosts(sites []*site) *hosts {
	h := &hosts{sites: sites, named: make(map[string]*Host)}
	h.rest = h.newHost(judge.Origin{})
	h.rest.Name, h.rest.Rest = otherName, true
	return h
}

// newHost returns the host of an origin.
func (h *hosts) newHost(origin judge.Origin) *Host {
	t := &Host{Name: origin.Host, origin: origin, hash: xxhash.Sum64String(origin.Host), site: siteOf(h.sites, origin.Host)}
	t.Known = len(t.site.lines[0].sources) > 0
	return t
}

// of returns a host as a client sent it.
func (h *hosts) of(raw string) *Host {
	if t := h.named[raw]; t != nil { // most are written so
		return t
	}
	origin := judge.NewOrigin("", raw, 0)
	origin.Host = strings.Clone(origin.Host)
	t := h.named[origin.Host]
	switch {
	case t != nil:
	case len(h.named) >= maxHosts:
		t = h.rest
	default:
		t = h.newHost(origin)
		h.named[origin.Host] = t
		for _, line := range t.site.lines {
			line.addHost(origin.Host)
		}
	}
	return t
}

// siteOf returns the site for a host: the site that names it, else one with a
// matching wildcard, else the site for all hosts, else the last element of sites,
// which has no robots.txt. A log without hosts belongs to the only site, or to the
// only one with a robots.txt.
func siteOf(sites []*site, host string) *site {
	if host == "" {
		known := slices.DeleteFunc(slices.Clone(sites), func(s *site) bool { return len(s.lines[0].sources) == 0 })
		switch {
		case len(sites) == 2:
			return sites[0]
		case len(known) == 1:
			return known[0]
		}
	}
	_, parent, _ := strings.Cut(host, ".")
	named := sites[:len(sites)-1]
	for _, name := range []string{host, "*." + parent, ""} {
		i := slices.IndexFunc(named, func(s *site) bool { return words.ContainsFold(s.Hosts, name) || name == "" && len(s.Hosts) == 0 })
		if i >= 0 {
			return named[i]
		}
	}
	return sites[len(sites)-1]
}

// report returns the hosts with the most requests, and one row for the others.
func (h *hosts) report() []*Host {
	list := []*Host{}
	for _, t := range h.named {
		if t.Name != "" {
			list = append(list, t)
		}
	}
	sortMost(list, func(h *Host) (int64, string) { return h.Requests, h.Name })
	shown := min(len(list), topHosts)
	for _, t := range list[shown:] {
		h.rest.Requests += t.Requests
		h.rest.Robots += t.Robots
		h.rest.Octets += t.Octets
		h.rest.Refused += t.Refused
	}
	list = list[:shown]
	if h.rest.Requests > 0 {
		list = append(list, h.rest)
	}
	return list
}

// Site is a site whose requests are in the log.
type Site struct {
	// Hosts are the names of its hosts. The first label may be a wildcard, as in
	// *.example.com. A site without Hosts gets the requests for all hosts that no
	// other site names.
	Hosts []string
	Rules judge.Settings
	// Chain returns the steps of the site, which have seen no request; nil: it has none.
	Chain func() (Chain, error)
	// Robots are the versions of its robots.txt, in any order. If there are none, its
	// requests are not judged.
	Robots []Version
	// Was are versions of another robots.txt with which Robots is compared; none: one that
	// allows everything.
	Was []Version
}

// Chain is the steps of a site. It decides about requests as the handler does. It is not safe
// for concurrent use.
type Chain interface {
	// Decide changes the decision on a request, which the rules have made. budgets has those of
	// the rules, which the request uses with those of the steps. Requests come in the order of
	// their times.
	Decide(v *Judged, d *judge.Decision, budgets *enforce.Replay)
	// Resolution is how exact the times of requests must be for that; 0 if that makes no
	// difference.
	Resolution() time.Duration
}

// site is a Site with its robots.txt files parsed.
type site struct {
	Site
	lines []*timeline // that in force, and with Options.Against that of Site.Was
}

// addHost adds a host of the log to those of the robots.txt files.
func (t *timeline) addHost(host string) {
	for _, source := range t.sources {
		if len(source.Hosts) < topHosts && host != "" {
			source.Hosts = append(source.Hosts, host)
		}
	}
}

// timeline is the versions of a robots.txt in order of time.
type timeline struct {
	replay  *enforce.Replay
	sources []*Source
	unknown *origins.History // for times at which no robots.txt is known
	longest time.Duration    // the longest Crawl-delay that is enforced
	chain   Chain            // nil without steps
}

// newSites parses the robots.txt files of sites. It adds one more site for hosts that
// belong to none. compares is Options.Against.
func newSites(list []Site, compares bool) (sites []*site, err error) {
	for _, given := range append(slices.Clone(list), Site{}) {
		s := &site{Site: given}
		files := [][]Version{given.Robots}
		if compares {
			files = append(files, given.Was)
		}
		for _, versions := range files {
			line, err := newTimeline(&given, versions)
			if err != nil {
				return nil, err
			}
			s.lines = append(s.lines, line)
		}
		sites = append(sites, s)
	}
	return sites, nil
}

// newTimeline parses versions of the robots.txt of a site.
func newTimeline(s *Site, versions []Version) (*timeline, error) {
	replay, err := enforce.NewReplay(s.Rules)
	if err != nil {
		return nil, err
	}
	t := &timeline{replay: replay, longest: cmp.Or(max(s.Rules.MaxDelay, 0), throttle.DefaultMaxDelay)}
	if s.Chain != nil {
		if t.chain, err = s.Chain(); err != nil {
			return nil, err
		}
	}
	t.addSources(versions)
	t.unknown = replay.Edition(judge.Response{Status: http.StatusNotFound}, time.Time{}, nil)
	return t, nil
}

// decide decides about a request by the robots.txt that was in force at its time, apart
// from limits of the pace.
func (t *timeline) decide(e *logformat.Entry, r *judge.Request, by *Ruling) {
	edition := t.unknown
	by.line, by.source = t, nil
	for _, s := range slices.Backward(t.sources) {
		if s.From == nil || !r.Time.Before(*s.From) {
			by.source, edition = s, s.edition
			break
		}
	}
	t.replay.Decide(edition, r, &by.Decision)
	if isRead(e) {
		t.replay.RobotsRead(edition, r)
	}
}
