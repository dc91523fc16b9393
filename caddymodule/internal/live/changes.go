package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// maxChanges is the largest number of changes of a watchedFile.
const maxChanges = 8

// configured is what the handlers of a site have in common.
type configured struct {
	Mode   string `json:"mode,omitempty"`
	Inline uint64 `json:"inline,omitempty"` // a hash of the texts in the configuration
}

// joinModes returns the mode of a site with two handlers, or of the first one.
func joinModes(before, mode string) string {
	if before == "" || before == mode {
		return mode
	}
	return statusapi.Both
}

// configured returns the settings of each site, and of each host with a mode of its own.
func (r *Reporter) configured() map[string]configured {
	sites := make(map[string]configured)
	for _, h := range r.handlers() {
		modes, inline := h.modes(), uint64(0)
		if h.Settings.SourceKind() == config.SourceInline {
			inline = xxhash.Sum64String(h.Settings.Source.Text)
		}
		for _, site := range h.Hosts {
			c := sites[site]
			c.Mode = joinModes(c.Mode, modes.name(site))
			c.Inline += inline
			sites[site] = c
		}
	}
	for _, h := range r.handlers() {
		modes := h.modes()
		for _, host := range modes.own() {
			c, ok := sites[host]
			if !ok {
				c = sites[h.SiteOf(host)]
			}
			c.Mode = modes.name(host)
			sites[host] = c
		}
	}
	return sites
}

// configure notes what changed in the settings of the site.
func (f *watchedFile) configure(c configured, now time.Time) {
	if f.Mode != "" && c.Mode != "" {
		if f.Mode != c.Mode {
			f.note(c.Mode, now)
		}
		if f.Inline != c.Inline {
			f.note("", now)
		}
	}
	if f.Mode != c.Mode || f.ModeSince.IsZero() {
		f.ModeSince = now
	}
	f.configured = c
}

// note notes a change of the mode or, if mode is "", of the text.
func (f *watchedFile) note(mode string, now time.Time) {
	f.Changes = append(f.Changes, statusapi.Change{Time: now.UTC().Truncate(time.Second), Mode: mode})
	f.Changes = f.Changes[max(0, len(f.Changes)-maxChanges):]
}

// changes returns the changes at the sites of a scope since a time, newest first.
// Changes of several sites at the same time are one.
func (a *Accidents) changes(scope statusapi.Scope, since time.Time) []statusapi.Change {
	all := []statusapi.Change{}
	a.mu.Lock()
	for _, f := range a.files {
		if len(f.Changes) == 0 {
			continue
		}
		sites := append(slices.Clone(f.Sites), f.Host)
		i := slices.IndexFunc(sites, func(site string) bool { return scope.All() || scope.Site(site) })
		for _, c := range f.Changes {
			if i >= 0 && !c.Time.Before(since) {
				c.Site = sites[i]
				all = append(all, c)
			}
		}
	}
	a.mu.Unlock()
	slices.SortFunc(all, func(x, y statusapi.Change) int {
		return cmp.Or(y.Time.Compare(x.Time), strings.Compare(x.Mode, y.Mode), strings.Compare(x.Site, y.Site))
	})
	list := all[:0]
	for _, c := range slices.Compact(all) {
		if last := len(list) - 1; last >= 0 && list[last].Time.Equal(c.Time) && list[last].Mode == c.Mode {
			list[last].More++
		} else {
			list = append(list, c)
		}
	}
	return list[:min(len(list), statusapi.MaxChanges)]
}
