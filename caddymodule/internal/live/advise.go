package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/advice"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// isTrouble reports whether something has to be done about a problem.
func isTrouble(p statusapi.Problem) bool { return p.Severity != statusapi.Remark }

// advise sets the actions of a problem.
func (r *Reporter) advise(p *statusapi.Problem, scope statusapi.Scope) {
	if !isTrouble(*p) {
		p.Actions = []statusapi.Action{}
		return
	}
	p.Actions = r.actions(scope, &advice.Facts{Problem: *p})
	if len(p.Actions) > 0 && strings.HasSuffix(p.Actions[0].What, inStandard) {
		p.Advice = p.Actions[0].What + "."
	}
}

// actions returns the actions for facts, to which it adds those of the configuration.
func (r *Reporter) actions(scope statusapi.Scope, f *advice.Facts) []statusapi.Action {
	site := append(f.Sites, statusapi.AnySite)[0]
	serves := func(h *Handler) bool { return f.Sites == nil || slices.Contains(h.Hosts, site) || h.ownsHost(site) }
	if i := slices.IndexFunc(r.handlers(), serves); i >= 0 {
		h := r.handlers()[i]
		if row := h.engine().Registry().Lookup(f.Crawler); row != nil && row.Name == f.Crawler {
			f.Row = row
		}
		f.Holds = h.Settings.Holds()
		f.Verifies, f.Checks = h.Verifies, h.Settings.Steps["challenge"] != nil
		isOthers := func(site string) bool { return !h.ownsHost(site) }
		if len(f.Sites) > 0 && !slices.ContainsFunc(f.Sites, isOthers) && !slices.Equal(f.Sites, h.Hosts) {
			f.Hosts = f.Sites
		}
		if len(f.Sites) == 1 && !h.ownsHost(site) { // their mode is set together
			f.Sites = h.Hosts
		}
	}
	if scope.Owner() {
		f.Admin = r.app.Admin
	}
	return words.Map(advice.For(f), possible)
}

// inStandard is the end of an action that needs another program.
const inStandard = " is in Caddy with caddymodule/standard"

// possible returns an action that has no line to copy of a step that this program does not have.
func possible(a statusapi.Action) statusapi.Action {
	for line := range strings.Lines(a.Text) {
		name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		isInner := strings.HasPrefix(line, "\t") || name == "}"
		if a.Where == statusapi.Caddyfile && !isInner && !config.HasLine(name) {
			return statusapi.Action{What: a.What + ": the line " + name + inStandard}
		}
	}
	return a
}

// searchPartly is the kind of a problem of a search engine, some of whose verified requests
// are refused.
const searchPartly = "search_partly"

// refusedSearches returns the problems of runs.
func refusedSearches(runs []counters.Run, now time.Time) (list []statusapi.Problem) {
	for i := range runs {
		if p := refusedSearch(&runs[i], now); p.Kind != "" {
			list = append(list, p)
		}
	}
	return list
}

// refusedSearch returns the problem of a run: an accident, or that more than one verified request
// in twenty is refused; without a kind if there is none. It is told in the past tense from the
// first minute on in which nothing was refused.
func refusedSearch(run *counters.Run, now time.Time) (a statusapi.Problem) {
	severity, kind := statusapi.Severe, SearchRefused
	switch isMost := run.ByName > 0 || run.Refused > run.Served; {
	case now.Sub(run.Last) > counters.MaxPause:
		return a
	case isMost && run.Last.Sub(run.Since) >= refusedFor:
	case isMost || run.Refused*20 > run.Refused+run.Served:
		severity, kind = statusapi.Warning, searchPartly
	default:
		return a
	}
	by, mend := "rules or limits", fmt.Sprintf("`caddy robots check --agent %q` and the URL names the rule", run.Crawler)
	if run.Line > 0 {
		by = fmt.Sprintf("line %d of robots.txt", run.Line)
		mend = "Mend " + by + ", or write `exempt " + snippet.Name(run.Crawler) + "` into the block robots"
	}
	a = statusapi.Problem{
		Sites: []string{run.Site}, Pattern: run.Pattern, Severity: severity, Kind: kind, Subject: statusapi.SiteName(run.Site), Crawler: run.Crawler, Line: run.Line,
		Since: timeOf(run.Since), Before: run.Served, Now: run.Refused,
		Advice: fmt.Sprintf("%s. If it is on purpose, write `deny %s` into `policy`, with the paths.", mend, snippet.Name(run.Crawler)),
	}
	verb, times := "is", "since "+words.Time(run.Since, now)
	if now.Sub(run.Last) >= time.Minute {
		a.Until = timeOf(run.Last)
		verb, times = "was", "from "+words.Time(run.Since, now)+" to "+words.Time(run.Last, now)
	}
	a.Message = fmt.Sprintf("%s, a verified search engine, %s refused at %s: %s %s, and %d served; the last one by %s",
		run.Crawler, verb, a.Subject, quantity(run.Refused, "request"), times, run.Served, by)
	return a
}
