package audit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// neverChecks are the checks of the linter that explain why a rule applies to no
// request: by its own line, or by the User-agent lines above it.
var neverChecks = []string{
	"never-decides", "contradiction", "missing-slash", "inverted-syntax", "url-as-path", "several-paths", "trailing-separator",
	"blank-in-path",
	"regular-expression", "dollar-within", "invalid-escape", "invisible-character", "hash-in-path", "robots-txt-rule", "several-crawl-delays",
	"misspelt-token", "control-token", "whole-user-agent", "version-in-user-agent", "path-in-user-agent", "wildcard-in-user-agent",
	"all-in-user-agent", "invisible-in-user-agent", "several-user-agents", "google-agent",
}

// explainNever sets why and instead of the rules that applied to no request.
func (s *source) explainNever(options []lint.Option) {
	found := make(map[int]*lint.Finding)
	list := lint.Lint(s.inForce.File(), append(slices.Clone(options), lint.WithSelect(neverChecks...))...)
	for i := range list {
		if f := &list[i]; found[f.Line] == nil || found[f.Line].Severity < f.Severity {
			found[f.Line] = f
		}
	}
	var agents *lint.Finding // of the User-agent lines above a line
	inGroup := false
	for line := range s.inForce.File().Lines() {
		f := found[line.Number]
		if line.Directive == robots.DirectiveUserAgent {
			if inGroup {
				agents, inGroup = nil, false
			}
			agents = cmp.Or(agents, f)
			continue
		}
		inGroup = inGroup || line.Directive != robots.DirectiveNone
		if t := s.rules[ruleKey{line: line.Number}]; t != nil && t.rule.Applied == 0 {
			if reason := cmp.Or(f, agents); reason != nil {
				t.rule.Why = reason.Message
			}
			if f != nil && f.Replacement != nil && len(f.Text) < lint.MaxText && f.Column-1+len(f.Text) <= len(line.Raw) {
				t.rule.instead = strings.TrimSpace(line.Raw[:f.Column-1] + *f.Replacement + line.Raw[f.Column-1+len(f.Text):])
			}
		}
	}
	for _, t := range s.rules {
		if l := &t.rule; l.Applied == 0 && l.Why == "" {
			l.Why = s.unrequested(l)
		}
	}
}

// unrequested says which requests the log lacks for a rule to apply.
func (s *source) unrequested(l *Line) string {
	n, ignored := int64(0), s.inForce.Ignored()
	for token := range strings.SplitSeq(l.Group, ", ") {
		if slices.Contains(ignored, token) {
			return "browsers have this word in their User-Agents, so the group is ignored"
		}
		n += s.applied[token]
	}
	switch {
	case s.Requests == 0:
		return "no request was judged by this file"
	case l.Layer == managed.HiddenLayer.String():
		return "no robot requested the path"
	case n == 0:
		return "no crawler of its group is in the log"
	}
	return fmt.Sprintf("its group applied to %s, but the line to none of them", requests(n))
}

// neverApplied says which lines of the sites' own files never applied, and why.
func (a *auditor) neverApplied(r *Report) Finding {
	f := Finding{Code: "never_applied"}
	byReason := make(map[string][]string)
	var reasons []string
	var fixable *Line
	lines := make(map[[2]int]*Line) // by source and line: a policy can copy a line into several groups
	for i := range r.RobotsLines {
		l := &r.RobotsLines[i]
		if key := [2]int{l.Source, l.Line}; l.Layer == judge.FileLayer.String() && (lines[key] == nil || l.Applied > 0) {
			lines[key] = l
		}
	}
	never := 0
	for i := range r.RobotsLines {
		l := &r.RobotsLines[i]
		if lines[[2]int{l.Source, l.Line}] != l || l.Applied > 0 {
			continue
		}
		if never++; byReason[l.Why] == nil {
			reasons = append(reasons, l.Why)
		}
		byReason[l.Why] = append(byReason[l.Why], a.place(r.Sources[l.Source].Name, l))
		if fixable == nil && l.instead != "" && !a.namesSearch(l.Group) {
			fixable = l
		}
	}
	switch {
	case len(lines) == 0:
		f.Text = "Lines that never applied: not known, because no robots.txt with rules is known."
	case never == 0:
		f.Text = "Lines that never applied: none. Each of them decided about a request."
	default:
		slices.SortStableFunc(reasons, func(x, y string) int { return cmp.Compare(len(byReason[x]), len(byReason[y])) })
		for i, why := range reasons {
			reasons[i] = words.List(byReason[why], 2) + ", because " + why
		}
		why := strings.TrimSuffix(strings.Join(reasons[:min(len(reasons), 3)], "; "), "?") // did you mean …?
		f.Text = fmt.Sprintf("Of %s, %d never applied: %s.", words.Plural(len(lines), "line", "lines"), never, why)
	}
	if fixable != nil {
		f.Change = fmt.Sprintf("If %s should apply, write instead:", a.place(r.Sources[fixable.Source].Name, fixable))
		f.Paste = fixable.instead
	}
	return f
}

// namesSearch reports whether a group names a search engine.
func (a *auditor) namesSearch(group string) bool {
	return slices.ContainsFunc(strings.Split(group, ", "), func(token string) bool {
		row := crawler.Builtin().Lookup(token)
		return row != nil && row.CountsAs(crawler.Search)
	})
}
