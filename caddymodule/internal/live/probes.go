package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// refusedClients are clients that were refused.
type refusedClients struct{ names, networks []string }

func (p *refusedClients) add(f *statusapi.Refusal) {
	if !slices.Contains(p.names, f.Crawler) {
		p.names = append(p.names, f.Crawler)
	}
	if !slices.Contains(p.networks, f.Client) {
		p.networks = append(p.networks, f.Client)
	}
}

// probeProblems returns the problems of probes that were refused in the last hour: of those
// that a group or a hidden path refuses, and of those that requested too many URLs. Impostors
// are no probes.
func (r *Reporter) probeProblems(scope statusapi.Scope, now time.Time) (list []statusapi.Problem) {
	var refused, busy refusedClients
	for _, f := range r.app.Counters.Kept(scope, 0) {
		isEnforced := f.Action == judge.Deny.String() || f.Action == judge.Throttle.String()
		switch {
		case !isEnforced || now.Sub(f.Time) > time.Hour || f.Reason == judge.Impostor.String():
		case f.Busy:
			busy.add(f)
		case f.Class == crawler.Probe.String():
			refused.add(f)
		}
	}
	const shown = 3
	isInvented := func(name string) bool { // by a client
		return !slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.engine().Registry().Lookup(name) != nil })
	}
	for _, p := range []*refusedClients{&refused, &busy} {
		slices.SortStableFunc(p.names, func(a, b string) int { return before(!isInvented(a), !isInvented(b)) })
		slices.Sort(p.networks)
	}
	if len(refused.names) > 0 {
		who := words.List(refused.names, shown)
		list = append(list, severe("probe", who,
			fmt.Sprintf("requests of the probe %s were refused in the last hour: a balancer may take this server out of service", who),
			fmt.Sprintf("A group of robots.txt that names it refuses it, or a hidden path. Remove that line, or write `exempt %q from ADDRESS`.",
				refused.names[0])))
	}
	if len(busy.names) > 0 {
		who := words.List(busy.names, shown)
		list = append(list, warning("probe", who,
			fmt.Sprintf("requests of probes that requested too many URLs were refused in the last hour: %s", who),
			fmt.Sprintf("From one address on the internet, or behind a proxy that is not in trusted_proxies, probes may request "+
				"%d different URLs of a site in an hour, whatever their names, or %d if they are verified; for further URLs, the "+
				"group for `*` applies. The last such requests came from %s. If that is a monitor of yours, write `exempt %q from ADDRESS`.",
				enforce.MaxProbeTargets, enforce.MaxVerifiedTargets, words.List(busy.networks, shown), busy.names[0])))
	}
	return list
}
