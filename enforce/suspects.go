package enforce

import "github.com/caddy-robots/caddy-robots/robots"

// JudgeSuspect judges a request of a person who behaves like a robot: by the
// path rules of the group for all crawlers, not by its pace. Where these
// disallow the target, d becomes a denial; else d is left as it is. Exempt paths
// are not disallowed, and nothing is while there are no rules.
func (p *Policy) JudgeSuspect(target string, d *Decision) {
	star := p.file.Star()
	if star == nil {
		return
	}
	v := p.rules.viewsOf(target)
	defer views.Put(v)
	if p.rules.exemptPaths.MatchViews(v).Allowed {
		return
	}
	verdict := star.MatchViews(v)
	if verdict.Allowed {
		return
	}
	*d = Decision{Action: Deny, Reason: Suspected, Policy: d.Policy, Agent: d.Agent, Group: star, Rule: verdict.Rule}
	d.from(p, verdict.Line())
}

// DisallowsEveryGroup reports whether every group of the file, the one for `*`
// included, disallows a target in each reading of the file. If not, it returns
// a group that allows the target, or nil if the file has no group for `*`.
func (p *Policy) DisallowsEveryGroup(target string) (allows *robots.Group, ok bool) {
	v := p.rules.viewsOf(target)
	defer views.Put(v)
	if p.rules.exemptPaths.MatchViews(v).Allowed || p.file.Star() == nil {
		return p.file.Star(), false
	}
	for _, f := range [...]*robots.File{p.file, p.google} {
		if f == nil {
			continue
		}
		if star := f.Star(); star.MatchViews(v).Allowed {
			return star, false
		}
		for _, token := range f.Tokens() {
			if g := f.Named(token); g != nil && g.MatchViews(v).Allowed {
				return g, false
			}
		}
	}
	return nil, true
}
