package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Origins implements statusapi.Reporter.
func (r *Reporter) Origins(scope statusapi.Scope, query statusapi.OriginsQuery) (*statusapi.Origins, error) {
	now, wanted := r.app.Now(), parseID(query.ID)
	r.accidents(scope)
	lost, refused := r.app.Counters.lostFiles(), r.refusedAt(scope)
	if query.Text {
		query.Limit = min(cmp.Or(query.Limit, statusapi.MaxTexts), statusapi.MaxTexts)
	}
	var all []*inForce
	for p := range r.allInForce(scope) {
		if (query.ID == "" || p.id == wanted) && (!query.Grace || len(p.Earlier) > 0) && (!query.Broken || lost.trouble(p, now).Kind != "") {
			all = append(all, new(*p))
		}
	}
	slices.SortFunc(all, func(a, b *inForce) int {
		return cmp.Or(before(!a.Invented, !b.Invented), cmp.Compare(refused[b.id], refused[a.id]), compareOrigins(a, b))
	})
	page, list := statusapi.Part(query.Pages, all)
	if query.ID != "" && page.Total == 0 {
		return nil, unknownOrigin(query.ID, ": a reload may have replaced it, or it was not fetched yet")
	}
	answer := &statusapi.Origins{Page: page, Origins: []statusapi.Origin{}}
	for _, p := range list {
		origin := p.status(lost.problem(p, now))
		if query.Text {
			if origin.Text = string(p.Rules.Text()); len(p.Earlier) > 0 {
				origin.Before = string(p.Earlier[0].Rules.Text())
			}
			origin.Lines = p.textLines(p.countsOf(r.app.Counters.Lines(scope)))
			origin.Findings = findingsOf(p.Rules, p.engine().Registry())
		}
		answer.Origins = append(answer.Origins, origin)
	}
	return answer, nil
}

// refusedAt returns the number of requests in the last day that lines refused, by the ID of
// the origin that has the line.
func (r *Reporter) refusedAt(scope statusapi.Scope) map[originID]uint64 {
	refused, shared := make(map[originID]uint64), r.shared(scope)
	for _, n := range r.app.Counters.Lines(scope) {
		if n.Day > 0 {
			refused[shared.idOf(&n)] += n.Day
		}
	}
	return refused
}

// lostFiles has the accidents of the files that lost their rules.
type lostFiles map[originID]Accident

func (a *Accidents) lostFiles() lostFiles {
	a.mu.Lock()
	defer a.mu.Unlock()
	lost := make(lostFiles)
	for id, f := range a.files {
		if f.Lost != "" {
			lost[id] = f.accidents()[0]
		}
	}
	return lost
}

// problem returns the problem of what is in force: that it lost its rules, unless it can't
// be read now, or that of inForce.problem.
func (l lostFiles) problem(p *inForce, now time.Time) statusapi.Problem {
	if one, ok := l[p.id]; ok && !p.isUnread() {
		return one.problem()
	}
	return p.problem(now)
}

// trouble is problem, but without a word about what is fine, of which there may be much.
func (l lostFiles) trouble(p *inForce, now time.Time) (problem statusapi.Problem) {
	if _, ok := l[p.id]; ok || !p.isFine() {
		problem = l.problem(p, now)
	}
	return problem
}

// status returns the state of what is in force, without its text.
func (p *inForce) status(problem statusapi.Problem) statusapi.Origin {
	rules := p.Rules
	s := statusapi.Origin{
		ID: p.id.String(), Sites: p.sites, Matcher: p.Route.Matcher(), Mode: p.mode(), Source: p.Settings.SourceKind(),
		Location: plainLocation(p.Settings.Source),
		Dialect:  cmp.Or(p.Settings.Dialect, robots.RFC9309.String()), State: rules.Outcome().String(), LastRead: p.Last.String(),
		Error: metrics.PlainError(p.Err), Message: problem.Message, Advice: problem.Advice, OK: problem.Severity == "",
		ReadAt: timeOf(p.Good), CheckedAt: timeOf(p.Began), NextRead: timeOf(p.Next), Failing: timeOf(p.Failing), Failures: p.Failures,
		Kept: p.Kept, DeniesAll: rules.DeniesAll(), Octets: len(rules.Text()), Groups: rules.GroupCount(), Rules: rules.RuleCount(),
		Published: rules.Published(), MergeError: metrics.PlainError(rules.MergeError()), Grace: []statusapi.Grace{},
		Unenforceable: first(rules.Unenforceable()), Ignored: first(rules.Ignored()),
	}
	if !p.shared {
		s.Origin = p.Origin.String()
	}
	for i := range p.Earlier {
		v := &p.Earlier[i]
		s.Grace = append(s.Grace, statusapi.Grace{
			Crawler: rules.Settings().Grace.String(), Version: v.Rules.Tag(), State: v.Rules.Outcome().String(),
			Status:   v.Rules.Status(),
			Replaced: v.Until().UTC(), Until: v.Ends().UTC(),
		})
	}
	return s
}

// findingsOf returns what the linter finds in the file that has the rules, at most maxShown
// findings.
func findingsOf(rules *judge.Rules, registry *crawler.Registry) []statusapi.Finding {
	list := []statusapi.Finding{}
	for _, f := range first(lint.Lint(rules.File(), findings.Crawlers(registry))) {
		layer, at := rules.Origin(f.Line)
		list = append(list, statusapi.Finding{
			Line: f.Line, File: rules.FileOf(layer), At: at, Column: f.Column, Severity: f.Severity.String(), Code: f.Code, Text: f.Text, Message: f.Message,
		})
	}
	return list
}
