package audit

import (
	"net/http"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// site is a Site made ready.
type site struct {
	Site
	replay  *enforce.Replay
	sources []*source
	unknown *enforce.Edition // where no robots.txt is known
	longest time.Duration

	before        *enforce.Replay // with what is compared; nil without
	beforeSources []*source
	beforeUnknown *enforce.Edition
}

// addSites makes the sites ready, and one more for hosts that are of none.
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

// at returns what is in force at a time. The source is nil where no robots.txt
// is known.
func (s *site) at(nanos int64) (*source, *enforce.Edition) {
	if src := sourceAt(s.sources, nanos); src != nil {
		return src, src.edition
	}
	return nil, s.unknown
}

func (s *site) editionBefore(nanos int64) *enforce.Edition {
	if src := sourceAt(s.beforeSources, nanos); src != nil {
		return src.edition
	}
	return s.beforeUnknown
}

// mergeRules gives what rules did to one crawler to another.
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

// hosts counts by host.
type hosts struct {
	sites []*site
	raw   map[string]*hostTally // as sent
	named map[string]*hostTally
	rest  *hostTally
}

// hostTally is what the log has of a host.
type hostTally struct {
	name                      string
	origin                    enforce.Origin
	site                      *site
	isRest                    bool
	requests, robots, refused int64
}

// Bounds of what is remembered of hosts.
const (
	maxHosts    = 10_000
	maxRawHosts = 20_000
	topHosts    = 100
)

func newHosts(sites []*site) *hosts {
	return &hosts{sites: sites, raw: make(map[string]*hostTally), named: make(map[string]*hostTally)}
}

// of returns the tally of a host, as clients send it.
func (h *hosts) of(raw string) *hostTally {
	if t := h.raw[raw]; t != nil {
		return t
	}
	if len(h.raw) >= maxRawHosts {
		clear(h.raw)
	}
	origin := enforce.NewOrigin("", raw, 0)
	origin.Host = strings.Clone(origin.Host)
	t := h.named[origin.Host]
	switch {
	case t != nil:
	case len(h.named) >= maxHosts:
		if h.rest == nil {
			h.rest = &hostTally{name: otherName, isRest: true, site: h.siteOf("")}
		}
		t = h.rest
	default:
		t = &hostTally{name: origin.Host, origin: origin, site: h.siteOf(origin.Host)}
		h.named[origin.Host] = t
		for _, src := range t.site.sources {
			if len(src.hosts) < topHosts && origin.Host != "" {
				src.hosts = append(src.hosts, origin.Host)
			}
		}
	}
	h.raw[strings.Clone(raw)] = t
	return t
}

// siteOf returns the site that serves a host: rather one that names it, then one
// with a wildcard, then one for all; the last site is that for none.
func (h *hosts) siteOf(host string) *site {
	_, parent, _ := strings.Cut(host, ".")
	var wild, all *site
	last := h.sites[len(h.sites)-1]
	for _, s := range h.sites[:len(h.sites)-1] {
		if len(s.Hosts) == 0 && all == nil {
			all = s
		}
		for _, name := range s.Hosts {
			switch {
			case strings.EqualFold(name, host):
				return s
			case wild == nil && parent != "" && strings.EqualFold(name, "*."+parent):
				wild = s
			}
		}
	}
	switch {
	case wild != nil:
		return wild
	case all != nil:
		return all
	case host == "" && len(h.sites) == 2: // a log without hosts is that of the one site
		return h.sites[0]
	}
	return last
}
