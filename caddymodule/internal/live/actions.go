package live

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/advice"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// SetMode implements statusapi.Reporter.
func (r *Reporter) SetMode(_ context.Context, scope statusapi.Scope, query statusapi.ModeQuery) (*statusapi.Mode, error) {
	if query.Mode == "" {
		return nil, badRequest("mode is missing: want enforce, monitor or configured")
	}
	hosts, err := r.chosen(scope)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "there is no robots handler")
	}
	return r.setModes(hosts, query)
}

// chosen returns the handlers in a scope, with the hosts in it that get something of their own;
// none for all of a handler. That a scope has a part of the sites of a handler, or an unknown
// name, is an error.
func (r *Reporter) chosen(scope statusapi.Scope) (map[*Handler][]string, error) {
	hosts, known := make(map[*Handler][]string), make(map[string]bool)
	for _, h := range r.handlers() {
		in := h.sitesIn(scope)
		for _, site := range in {
			known[site] = true
		}
		if scope.All() || len(in) == len(h.Hosts) {
			hosts[h] = nil
			continue
		}
		for _, name := range scope.Hosts() {
			if h.ownsHost(name) {
				hosts[h] = append(hosts[h], name)
				known[name] = true
			}
		}
		if i := slices.IndexFunc(in, func(site string) bool { return !slices.Contains(hosts[h], site) }); i >= 0 {
			return nil, statusapi.Errorf(http.StatusConflict,
				"the handler of %s also serves other sites, which would change too: set all of them together", in[i])
		}
	}
	for _, name := range scope.Hosts() {
		if !known[name] {
			return nil, statusapi.UnknownSite(name, r.Sites(statusapi.AllSites()))
		}
	}
	return hosts, nil
}

// setModes sets the modes of handlers, or only of some of their hosts, until the next load
// of the configuration. It sets all of them or, with an error, none.
func (r *Reporter) setModes(hosts map[*Handler][]string, query statusapi.ModeQuery) (*statusapi.Mode, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answer := &statusapi.Mode{Sites: []string{}, Since: r.app.Now().UTC()}
	set, rows := make(map[*Handler]*Modes), make(map[*Handler]*crawler.Crawler)
	for h, names := range hosts {
		now := h.modes()
		if query.Crawler != "" {
			row := now.registry.Lookup(query.Crawler)
			if row == nil {
				return nil, badRequest("crawler=%.100q is not a name of the registry", query.Crawler)
			}
			rows[h], answer.Crawler = row, row.Name
		}
		var err error
		if set[h], err = now.set(names, rows[h], query.Mode); err != nil {
			return nil, err
		}
	}
	for h, modes := range set {
		h.SetModes(modes)
		if h.Sharer != nil {
			answer.Note = "it holds on this server only: set it on each server of the fleet, or write it into the configuration"
		}
		changed := hosts[h]
		if changed == nil {
			changed = h.Hosts
		}
		for _, site := range changed {
			mode := h.modes().At(site)
			if mode == nil {
				continue
			}
			if answer.Sites = append(answer.Sites, site); answer.Mode == "" {
				answer.Mode = mode.of(rows[h])
			} else if answer.Mode != mode.of(rows[h]) {
				answer.Mode = statusapi.Both
			}
		}
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	r.modeSet = answer.Since
	fields := []zap.Field{zap.String("mode", answer.Mode), zap.Strings("sites", answer.Sites), zap.String("crawler", answer.Crawler)}
	if query.Mode == statusapi.Configured {
		r.app.Log.Info("the mode is again the one of the configuration", fields...)
	} else {
		r.app.Log.Warn("the mode was set until the next load of the configuration", fields...)
	}
	return answer, nil
}

// maxSitesNamed is the largest number of sites in a command.
const maxSitesNamed = 20

// modeProblems returns the sites whose mode was set through the admin API.
func (r *Reporter) modeProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	sites := make(map[string][]string) // by advice.Effect
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.handlersIn(scope) {
		modes := h.modes()
		own := slices.DeleteFunc(modes.own(), func(host string) bool { return !scope.Host(h.SiteOf(host), host) })
		for _, host := range append(h.sitesIn(scope), own...) {
			if modes.isOverridden(host) {
				mode := modes.At(host)
				effect := advice.Effect(mode.Monitor, mode.named())
				sites[effect] = append(sites[effect], host)
			}
		}
	}
	for effect, list := range sites {
		list = slices.Compact(slices.Sorted(slices.Values(list)))
		problem := warning("mode", metrics.Clip(strings.Join(list, ", ")), effect+" until the next load of the configuration",
			"To return to the configured mode, set the mode `configured`, or run `caddy reload --force` (an unchanged file is "+
				"not loaded without --force).")
		problem.Actions = []statusapi.Action{{What: "Set the mode configured, which is that of the configuration", Text: "mode?mode=configured",
			Where: statusapi.Command}}
		if problem.Since = timeOf(r.modeSet); len(list) <= maxSitesNamed {
			problem.Sites = list
		}
		problems = append(problems, problem)
	}
	return problems
}

// monitorProblems returns what there is to say when all sites are in monitor mode for long.
func (r *Reporter) monitorProblems(scope statusapi.Scope, crawlers []*statusapi.Crawler) []statusapi.Problem {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	var since time.Time // the latest, of all files
	for _, f := range a.files {
		if f.look != a.looks || f.Mode == modeOff || !scope.Site(f.Host) && !slices.ContainsFunc(f.Sites, scope.Site) {
			continue
		}
		if f.Mode != statusapi.Monitor {
			return nil
		}
		if since.Before(f.ModeSince) {
			since = f.ModeSince
		}
	}
	verifies := slices.ContainsFunc(r.handlersIn(scope), func(h *Handler) bool { return h.Verifies })
	return mistakes.Monitored(since, r.app.Now(), verifies, crawlers)
}

// refreshTimeout is the longest time for which Refresh waits for the sources.
const refreshTimeout = 30 * time.Second

// Refresh implements statusapi.Reporter.
func (r *Reporter) Refresh(ctx context.Context, scope statusapi.Scope, query statusapi.RefreshQuery) (*statusapi.Refresh, error) {
	list, err := r.inForceAt(scope, query.ID)
	if err != nil {
		return nil, err
	}
	wanted := make(map[*Handler]map[judge.Origin]bool)
	for _, p := range list {
		if wanted[p.Handler] == nil {
			wanted[p.Handler] = make(map[judge.Origin]bool)
		}
		wanted[p.Handler][p.Origin] = true
	}
	r.lookAgain() // sees the versions before
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	answer := &statusapi.Refresh{Reads: []statusapi.Read{}}
	var mu sync.Mutex // guards answer
	var reading background.Group
	for h, selected := range wanted {
		reading.Go("refresh", func() {
			unread := h.engine().Origins().Refresh(ctx, func(o judge.Origin) bool { return selected[o] }, func(e origins.FetchEvent) {
				read := h.readStatus(e)
				mu.Lock()
				defer mu.Unlock()
				answer.Reads = append(answer.Reads, read)
			})
			mu.Lock()
			defer mu.Unlock()
			answer.More += unread
		})
	}
	reading.Wait()
	if query.GraceOff { // after the reads, so that it also ends the grace of a change that they found
		for h, selected := range wanted {
			for origin := range selected {
				answer.Grace += h.engine().EndGrace(origin)
			}
		}
	}
	r.lookAgain() // of the new versions
	if query.Accept {
		answer.Accepted = r.app.Counters.acceptAt(list)
	}
	slices.SortFunc(answer.Reads, func(a, b statusapi.Read) int {
		return strings.Compare(a.Origin+" "+a.Message, b.Origin+" "+b.Message)
	})
	return answer, nil
}

// lookAgain looks for accidents, however many files there are.
func (r *Reporter) lookAgain() {
	a := r.app.Counters.Accidents
	a.mu.Lock()
	defer a.mu.Unlock()
	a.look(r)
}

// readStatus returns the result of a read.
func (h *Handler) readStatus(e origins.FetchEvent) statusapi.Read {
	read := statusapi.Read{State: e.Outcome.String(), Error: metrics.PlainError(e.Err)}
	if h.engine().Origins().PerOrigin() {
		read.Origin = e.Origin.String()
	}
	_, read.Message = metrics.ReadLevel(&e)
	return read
}

// HasSwitch implements statusapi.Reporter.
func (r *Reporter) HasSwitch(name string) bool {
	return slices.ContainsFunc(r.handlers(), func(h *Handler) bool { return h.Switches[name] != nil })
}

// Switch implements statusapi.Reporter.
func (r *Reporter) Switch(_ context.Context, scope statusapi.Scope, query statusapi.SwitchQuery) (*statusapi.Switched, error) {
	if query.Set == "" {
		return nil, badRequest("set is missing: want off or configured")
	}
	answer := &statusapi.Switched{Set: query.Set, Sites: []string{}}
	on := query.Set == statusapi.Configured
	chosen, err := r.chosen(scope)
	if err != nil {
		return nil, err
	}
	for h, hosts := range chosen {
		step := h.Switches[query.Step]
		switch {
		case step == nil:
			continue
		case hosts == nil:
			step.Switch("", on)
			hosts = h.Hosts
		default:
			for _, host := range hosts {
				step.Switch(host, on)
			}
		}
		answer.Sites = append(answer.Sites, hosts...)
	}
	if len(answer.Sites) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "no handler with %s serves these sites", query.Step)
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	r.app.Log.Warn(query.Step+" was set until the next load of the configuration", zap.String("set", query.Set), zap.Strings("sites", answer.Sites))
	return answer, nil
}
