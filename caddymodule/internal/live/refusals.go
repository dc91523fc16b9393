package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

const (
	refusalsFor  = time.Hour      // how long refusals of probes and impostors are told
	mistakenFor  = 24 * time.Hour // how long a refusal of a mistaken impostor is a problem
	shownClients = 3              // names and networks in a message
)

// refusals are the refusals that are kept of some clients.
type refusals struct {
	names, networks []string
	count           int
	first, last     time.Time
}

// add adds a refusal that was before the others.
func (r *refusals) add(f *statusapi.Refusal) {
	if !slices.Contains(r.names, f.Crawler) {
		r.names = append(r.names, f.Crawler)
	}
	if !slices.Contains(r.networks, f.Client) {
		r.networks = append(r.networks, f.Client)
	}
	if r.count++; r.count == 1 {
		r.last = f.Time
	}
	r.first = f.Time
}

// dated returns a problem of these refusals with their times.
func (r *refusals) dated(p statusapi.Problem, now time.Time) statusapi.Problem {
	p.Since = timeOf(r.first)
	if now.Sub(r.last) >= time.Minute {
		p.Until = timeOf(r.last)
	}
	return p
}

// probeProblems returns the problems of probes that were refused in the last hour: of those
// that a group or a hidden path refuses, and of those that requested too many URLs. Impostors
// are no probes.
func (r *Reporter) probeProblems(scope statusapi.Scope) (list []statusapi.Problem) {
	var refused, busy refusals
	now := r.app.Now()
	for _, f := range r.app.Counters.Kept(scope, 0) {
		isEnforced := f.Action == judge.Deny.String() || f.Action == judge.Throttle.String()
		switch {
		case !isEnforced || now.Sub(f.Time) > refusalsFor || f.Reason == judge.Impostor.String():
		case f.Busy:
			busy.add(f)
		case f.Class == crawler.Probe.String():
			refused.add(f)
		}
	}
	isInvented := func(name string) bool { // by a client
		return !slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.engine().Registry().Lookup(name) != nil })
	}
	for _, p := range []*refusals{&refused, &busy} {
		slices.SortStableFunc(p.names, func(a, b string) int { return before(!isInvented(a), !isInvented(b)) })
		slices.Sort(p.networks)
	}
	if refused.count > 0 {
		who := words.List(refused.names, shownClients)
		list = append(list, refused.dated(severe("probe", who,
			fmt.Sprintf("requests of the probe %s were refused in the last hour: a balancer may take this server out of service", who),
			fmt.Sprintf("A group of robots.txt that names it refuses it, or a hidden path. Remove that line, or write `exempt %q from ADDRESS`.",
				refused.names[0])), now))
	}
	if busy.count > 0 {
		who := words.List(busy.names, shownClients)
		list = append(list, busy.dated(warning("probe", who,
			fmt.Sprintf("requests of probes that requested too many URLs were refused in the last hour: %s", who),
			fmt.Sprintf("From one address on the internet, or behind a proxy that is not in trusted_proxies, probes may request "+
				"%d different URLs of a site in an hour, whatever their names, or %d if they are verified; for further URLs, the "+
				"group for `*` applies. The last such requests came from %s. If that is a monitor of yours, write `exempt %q from ADDRESS`.",
				enforce.MaxProbeTargets, enforce.MaxVerifiedTargets, words.List(busy.networks, shownClients), busy.names[0])), now))
	}
	return list
}

// impostorProblems returns what there is to say about requests that were refused as those of
// impostors, of the crawlers in a list: where they came from addresses that verify them now, that
// it was a mistake.
func (r *Reporter) impostorProblems(scope statusapi.Scope, list []*statusapi.Crawler) (problems []statusapi.Problem) {
	type claimed struct{ site, crawler string }
	mistaken, sent := make(map[claimed]*refusals), make(map[string]uint64) // sent in the last hour
	for _, c := range list {
		sent[c.Name] = c.Hour.Impostors
	}
	var refused refusals
	now := r.app.Now()
	for _, f := range r.app.Counters.Kept(scope, 0) {
		age := now.Sub(f.Time)
		if f.Action != judge.Deny.String() || f.Reason != judge.Impostor.String() || age > mistakenFor {
			continue
		}
		if slices.ContainsFunc(r.handlers(), func(h *Handler) bool {
			return h.Verifies && slices.Contains(h.Hosts, f.Site) && h.IsVerified(f.Crawler, f.Addr)
		}) {
			key := claimed{siteOfRefusal(f), f.Crawler}
			if mistaken[key] == nil {
				mistaken[key] = new(refusals)
			}
			mistaken[key].add(f)
			delete(sent, f.Crawler)
		} else if age <= refusalsFor {
			refused.add(f)
		}
	}
	for key, of := range mistaken {
		p := of.dated(warning("impostors", statusapi.SiteName(key.site),
			fmt.Sprintf("at least %s of %s at %s, refused as those of impostors, came from addresses that are verified now",
				quantity(of.count, "request"), key.crawler, statusapi.SiteName(key.site)),
			"The list of addresses, or reverse DNS, had these addresses too late. New requests from them pass. If it happens "+
				"again, set `impostors ignore` in `verify`."), now)
		p.Crawler = key.crawler
		problems = append(problems, p)
	}
	names := slices.DeleteFunc(refused.names, func(name string) bool { return sent[name] == 0 })
	if len(names) == 0 {
		return problems
	}
	who, sum := words.List(names, shownClients), uint64(0)
	for _, name := range names {
		sum += sent[name]
	}
	p := refused.dated(statusapi.Problem{Severity: statusapi.Remark, Kind: "impostors", Subject: who, Advice: handledAdvice}, now)
	are, times := "are", ""
	if p.Until != nil {
		are, times = "were", ", until "+words.Time(refused.last, now)
	}
	p.Message = fmt.Sprintf("Handled: impostors of %s, from %s, %s refused%s. They sent %s in the last hour", who,
		words.List(refused.networks, shownClients), are, times, quantity(int(sum), "request"))
	return append(problems, p)
}

// siteOfRefusal returns the site of a refusal or, where only a pattern names it, the host.
func siteOfRefusal(f *statusapi.Refusal) string {
	if routes.IsPattern(f.Site) && counters.IsHostName(f.Host) {
		return f.Host
	}
	return f.Site
}
