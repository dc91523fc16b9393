package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// maxProbeProblems is the largest number of probes with a problem each: clients
// can invent names.
const maxProbeProblems = 10

// probeProblems returns the problems of probes that were refused in the last
// hour: one for each that a group or a hidden path refuses, and then one for all
// that requested too many URLs.
func (r *Reporter) probeProblems(scope statusapi.Scope, now time.Time) (list []statusapi.Problem) {
	crawlers, _ := r.app.Counters.Crawlers(scope, statusapi.CrawlersQuery{Span: statusapi.SpanHour, Class: crawler.Probe.String()})
	refused := func(c *statusapi.Crawler) uint64 { return c.Hour.Denied + c.Hour.Throttled }
	crawlers = slices.DeleteFunc(crawlers, func(c statusapi.Crawler) bool { return refused(&c) == 0 })
	if len(crawlers) == 0 {
		return nil
	}
	slices.SortFunc(crawlers, func(a, b statusapi.Crawler) int {
		// Clients can invent the names of those that are not known.
		return cmp.Or(before(a.Known, b.Known), cmp.Compare(refused(&b), refused(&a)), strings.Compare(a.Name, b.Name))
	})
	causes := r.refusalCauses(scope, now)
	var names, networks []string // of those that requested too many URLs
	requests := 0
	for i := range crawlers {
		c := &crawlers[i]
		why := causes[strings.ToLower(c.Name)]
		if why.rules && len(list) < maxProbeProblems {
			list = append(list, severe("probe", c.Name,
				fmt.Sprintf("%s of the probe %s were refused in the last hour: a balancer may take this server out of service",
					quantity(int(refused(c)), "request"), c.Name),
				fmt.Sprintf("A group of robots.txt that names it refuses it, or a hidden path. Remove that line, or write `exempt %q from ADDRESS`.",
					c.Name)))
		}
		if why.urls {
			names, requests = append(names, c.Name), requests+int(refused(c))
			networks = append(networks, why.networks...)
		}
	}
	if len(names) > 0 {
		slices.Sort(networks)
		list = append(list, mistakes.BusyProbes(names, slices.Compact(networks), requests))
	}
	return list
}

// refusalCauses says why a probe was refused.
type refusalCauses struct {
	rules    bool // by a group that names it, or a hidden path
	urls     bool // it requested too many URLs
	networks []string
}

// refusalCauses returns why crawlers were refused in the last hour, by their
// names in lower case. Of each crawler that is still refused, some refusals are
// kept. Impostors are no probes.
func (r *Reporter) refusalCauses(scope statusapi.Scope, now time.Time) map[string]refusalCauses {
	causes := make(map[string]refusalCauses)
	for f := range r.app.Counters.Kept(scope, 0) {
		if now.Sub(f.Time) > time.Hour || f.Reason == judge.Impostor.String() {
			continue
		}
		name := strings.ToLower(f.Crawler)
		why := causes[name]
		switch {
		case f.Busy:
			why.urls, why.networks = true, append(why.networks, f.Client)
		case f.Class == crawler.Probe.String():
			why.rules = true
		}
		causes[name] = why
	}
	return causes
}
