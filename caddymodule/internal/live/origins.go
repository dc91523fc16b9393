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
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// file is what is in force, as it is sorted.
type file struct {
	inForce
	isFine  bool
	refused uint64 // requests of the last day
}

// compareFiles orders files: those with a problem, those in a grace period, those whose hosts
// no client can invent, and those that refuse most are first.
func compareFiles(a, b *file) int {
	return cmp.Or(before(!a.isFine, !b.isFine), before(len(a.Earlier) > 0, len(b.Earlier) > 0), before(!a.Invented, !b.Invented),
		cmp.Compare(b.refused, a.refused), compareOrigins(&a.inForce, &b.inForce))
}

// texts returns the files in a scope with their texts, or only that with an ID, if it is not "".
func (r *Reporter) texts(scope statusapi.Scope, id string) ([]statusapi.Origin, error) {
	list, err := r.inForceAt(scope, id)
	if err != nil {
		return nil, err
	}
	files := []statusapi.Origin{}
	slices.SortFunc(list, compareOrigins)
	for _, p := range list[:min(len(list), statusapi.MaxTexts)] {
		f := r.origin(p)
		f.Text = string(p.Rules.Text())
		if len(p.Earlier) > 0 {
			f.Before = string(p.Earlier[0].Rules.Text())
		}
		f.Findings = findingsOf(p.Rules, p.engine().Registry())
		files = append(files, f)
	}
	return files, nil
}

// lost returns the accident of a file that lost its rules.
func (a *Accidents) lost(id originID) (lost statusapi.Problem, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.files[id]
	if f == nil || f.Lost == "" {
		return lost, false
	}
	return f.accidents()[0], true
}

// problem returns the problem of what is in force: that it lost its rules, unless it can't
// be read now, or that of inForce.problem.
func (r *Reporter) problem(p *inForce, now time.Time) statusapi.Problem {
	if one, ok := r.app.Counters.lost(p.id); ok && !p.isUnread() {
		return one
	}
	return p.problem(now)
}

// origin returns the state of what is in force, without its text.
func (r *Reporter) origin(p *inForce) statusapi.Origin {
	rules, now := p.Rules, r.app.Now()
	problem := r.problem(p, now)
	s := statusapi.Origin{
		ID: p.id.String(), Sites: p.sites, Matcher: p.Route.Matcher(), Mode: p.mode(), Source: p.Settings.SourceKind(),
		Location: plainLocation(p.Settings.Source), State: rules.Outcome().String(), Error: metrics.PlainError(p.Err),
		Message: cmp.Or(problem.Message, p.describe(now)), Advice: problem.Advice, OK: problem.Severity == "", ReadAt: timeOf(p.Good), Kept: p.Kept,
		Version: rules.Tag(), Rules: rules.RuleCount(),
		Grace: []statusapi.Grace{}, Unenforceable: first(rules.Unenforceable()),
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
			Line: f.Line, File: rules.FileOf(layer), At: at, Severity: f.Severity.String(), Code: f.Code, Text: f.Text, Message: f.Message,
		})
	}
	return list
}
