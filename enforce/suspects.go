package enforce

import "github.com/caddy-robots/caddy-robots/robots"

// JudgeSuspect decides on a request of a client that behaves like a robot, but
// that no User-Agent identifies as a crawler. It applies the path rules of the
// group for `*`, but no rate limits. If the group disallows the target, d
// becomes a decision to deny, with reason Suspected. Otherwise, on exempt
// paths, and while there are no rules, d stays as it is.
func (p *Rules) JudgeSuspect(target string, d *Decision) {
	star := p.file.Star()
	if star == nil {
		return
	}
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	if p.settings.exemptPaths.MatchViews(v).Allowed {
		return
	}
	verdict := star.MatchViews(v)
	if verdict.Allowed {
		return
	}
	*d = Decision{Action: Deny, Reason: Suspected, Rules: d.Rules, Agent: d.Agent, Group: star, Rule: verdict.Rule}
	d.from(p, verdict.Line())
}

// DisallowsEveryGroup returns true if the file has a group for `*`, and every
// group of the file disallows the target, also as google/robotstxt reads the
// file. An exempt path is not disallowed. If it returns false, allows is a group
// that allows the target (on an exempt path the group for `*`), or nil if there
// is no group for `*`.
func (p *Rules) DisallowsEveryGroup(target string) (allows *robots.Group, ok bool) {
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	if p.settings.exemptPaths.MatchViews(v).Allowed || p.file.Star() == nil {
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
