package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// droppedFor is how long it is reported that a load dropped a mode.
const droppedFor = 24 * time.Hour

// droppedMode is a mode that was set, and that a load of the configuration dropped.
type droppedMode struct {
	crawlers string // "" for all
	mode     string // before
	sites    []string
}

func (d *droppedMode) text() string {
	who := metrics.Clip(strings.Join(d.sites, ", "))
	if d.crawlers != "" {
		who = d.crawlers + " at " + who
	}
	return fmt.Sprintf("%s was in %s mode until this load", who, d.mode)
}

// Begin says that the reporter's configuration is in force from now on. It finds the modes
// that were set for the one before, and that this one does not have.
func (r *Reporter) Begin() {
	c := r.app.Counters
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.reporters); n > 0 {
		r.dropped = r.droppedSince(c.reporters[n-1])
	}
	c.reporters = append(c.reporters, r)
	for _, d := range r.dropped {
		r.app.Log.Warn("the load of the configuration ended a mode: "+d.text(), zap.Strings("sites", d.sites))
	}
}

// End says that the reporter's configuration is no longer in force.
func (r *Reporter) End() {
	c := r.app.Counters
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reporters = slices.DeleteFunc(c.reporters, func(o *Reporter) bool { return o == r })
}

// droppedSince returns the modes that were set for an earlier configuration, and that are
// not in force now.
func (r *Reporter) droppedSince(before *Reporter) (dropped []droppedMode) {
	for _, old := range before.handlers() {
		was := old.modes()
		for _, site := range slices.Concat(old.Hosts, was.own()) {
			i := slices.IndexFunc(r.handlers(), func(h *Handler) bool { return slices.Contains(h.Hosts, site) || h.ownsHost(site) })
			if i < 0 || !was.isOverridden(site) {
				continue
			}
			now := r.handlers()[i].modes()
			for _, d := range now.differences(site, *was.At(site)) {
				same := func(o droppedMode) bool { return o.crawlers == d.crawlers && o.mode == d.mode }
				if i := slices.IndexFunc(dropped, same); i < 0 {
					dropped = append(dropped, d)
				} else if !slices.Contains(dropped[i].sites, site) {
					dropped[i].sites = append(dropped[i].sites, site)
				}
			}
		}
	}
	return dropped
}

// differences returns in what a mode differs from that of a host.
func (m *Modes) differences(host string, was Mode) (list []droppedMode) {
	now := m.At(host)
	if now == nil {
		return nil
	}
	if was.Monitor != now.Monitor {
		return []droppedMode{{"", was.String(), []string{host}}}
	}
	was = was.bind(m.registry)
	names := make(map[string][]string)
	for row := range m.registry.All() {
		if was.MonitorsCrawler(row) != now.MonitorsCrawler(row) {
			names[was.of(row)] = append(names[was.of(row)], row.Name)
		}
	}
	for _, mode := range []string{statusapi.Monitor, statusapi.Enforce} {
		if names[mode] != nil {
			list = append(list, droppedMode{words.List(names[mode], 5), mode, []string{host}})
		}
	}
	return list
}

// droppedProblems returns the modes that the load dropped, until a mode is set again.
func (r *Reporter) droppedProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.modeSet.IsZero() || r.app.Now().Sub(r.began) > droppedFor {
		return nil
	}
	for _, d := range r.dropped {
		d.sites = slices.DeleteFunc(slices.Clone(d.sites), func(site string) bool { return !scope.Site(site) })
		if len(d.sites) > 0 {
			p := warning("mode_dropped", d.sites[0], d.text(), "Set the mode again, or write it into the configuration: "+
				"the line `mode`, or for some hosts `host`.")
			p.Severity, p.Since = statusapi.Remark, timeOf(r.began)
			problems = append(problems, p)
		}
	}
	return problems
}
