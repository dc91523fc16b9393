package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/advice"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
		f.Verifies, f.Checks = h.Verifies, h.Settings.Steps["challenge"] != nil
		isOthers := func(site string) bool { return !h.ownsHost(site) }
		if len(f.Sites) > 0 && !slices.ContainsFunc(f.Sites, isOthers) && !slices.Equal(f.Sites, h.Hosts) {
			f.Hosts, f.OwnFile = f.Sites, h.engine().Origins().PerOrigin()
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

// claimProblems returns the problems of clients with the names of crawlers that can be
// verified: the search engine that is refused most in the last hour, where that is more
// than one verified request in twenty, and impostors that are refused. known are problems
// that say more.
func (r *Reporter) claimProblems(scope statusapi.Scope, list []*statusapi.Crawler, known []statusapi.Problem) (problems []statusapi.Problem) {
	isKnown := func(name string, kinds ...string) bool {
		return slices.ContainsFunc(known, func(p statusapi.Problem) bool { return p.Crawler == name && slices.Contains(kinds, p.Kind) })
	}
	var search, worst statusapi.Counts
	p := warning(searchPartly, "", "", "If that is a mistake, mend the line, or `exempt` the search engine.")
	impostors := make(map[string]uint64) // their requests, by crawler
	for _, c := range list {
		if c.Hour.Impostors > 0 && !isKnown(c.Name, "impostors") {
			impostors[c.Name] = c.Hour.Impostors
		}
		if slices.Contains(c.Purposes, string(crawler.Search)) {
			if search.Add(c.Hour); c.Hour.VerifiedRefused > worst.VerifiedRefused {
				p.Crawler, worst = c.Name, c.Hour
			}
		}
	}
	isRefused := search.VerifiedRefused*20 > search.Verified && !isKnown(p.Crawler, SearchRefused)
	if !isRefused && len(impostors) == 0 {
		return nil
	}
	var by string
	var refused refusedClients
	for _, f := range r.app.Counters.Kept(scope, 0) {
		switch {
		case f.Crawler == p.Crawler && f.Verified == claim.Verified.String() && f.Line > 0 && p.Sites == nil:
			file := cmp.Or(f.File, "robots.txt")
			if by = fmt.Sprintf(", the last one by line %d of %s, %s", f.Line, file, cmp.Or(f.Rule, f.Reason)); file == "robots.txt" {
				p.Line = f.Line
			}
			p.Sites, p.Folder = []string{siteOfRefusal(f)}, counters.FolderOf(f.Path)
		case impostors[f.Crawler] > 0 && f.Reason == judge.Impostor.String() && f.Action == judge.Deny.String() &&
			r.app.Now().Sub(f.Time) <= time.Hour:
			refused.add(f)
		}
	}
	if isRefused {
		p.Subject = p.Crawler
		p.Message = fmt.Sprintf("%s, a verified search engine: %d of its %s were refused in the last hour%s", p.Crawler, worst.VerifiedRefused,
			quantity(int(worst.Verified), "verified request"), by)
		problems = append(problems, p)
	}
	if len(refused.names) > 0 {
		const shown = 3
		who, sent := words.List(refused.names, shown), uint64(0)
		for _, name := range refused.names {
			sent += impostors[name]
		}
		problems = append(problems, statusapi.Problem{Severity: statusapi.Remark, Kind: "impostors", Subject: who, Advice: handledAdvice,
			Message: fmt.Sprintf("Handled: impostors of %s, from %s, get 403. They sent %s in the last hour", who, words.List(refused.networks, shown),
				quantity(int(sent), "request"))})
	}
	return problems
}

// siteOfRefusal returns the site of a refusal or, where only a pattern names it, the host.
func siteOfRefusal(f *statusapi.Refusal) string {
	if routes.IsPattern(f.Site) && counters.IsHostName(f.Host) {
		return f.Host
	}
	return f.Site
}

// refusedSearch returns the accident of a run. It is told in the past tense from the first
// minute on in which nothing was refused.
func refusedSearch(run *counters.Run, now time.Time) statusapi.Problem {
	by, mend := "rules or limits", fmt.Sprintf("`caddy robots check --agent %q` and the URL names the rule", run.Crawler)
	if run.Line > 0 {
		by = fmt.Sprintf("line %d of robots.txt", run.Line)
		mend = "Mend " + by + ", or write `exempt " + snippet.Name(run.Crawler) + "` into the block robots"
	}
	a := statusapi.Problem{
		Sites: []string{run.Site}, Pattern: run.Pattern,
		Severity: statusapi.Severe, Kind: SearchRefused, Subject: statusapi.SiteName(run.Site), Crawler: run.Crawler, Line: run.Line,
		Since: timeOf(run.Since), Before: run.Served, Now: run.Refused,
		Advice: fmt.Sprintf("%s. If it is on purpose, write `deny %s` into `policy`, with the paths.", mend, snippet.Name(run.Crawler)),
	}
	verb, times := "is", "since "+formatTime(run.Since, now)
	if now.Sub(run.Last) >= time.Minute {
		a.Until = timeOf(run.Last)
		verb, times = "was", "from "+formatTime(run.Since, now)+" to "+formatTime(run.Last, now)
	}
	a.Message = fmt.Sprintf("%s, a verified search engine, %s refused at %s: %s %s, and %d served; the last one by %s",
		run.Crawler, verb, a.Subject, quantity(run.Refused, "request"), times, run.Served, by)
	return a
}
