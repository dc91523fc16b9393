package enforce

import (
	"slices"
	"strings"
	"sync"

	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// compileSignals makes ready what the file says in lines that have a header
// form, for each group and for whom no group is for: the lines before the
// first User-agent line speak to all, and a group's come after them.
func (p *Policy) compileSignals() {
	p.signals = make(map[*robots.Group]*headers.Signals, len(p.terms)+1)
	var licenses []string
	for _, l := range p.file.Licenses() {
		licenses = append(licenses, l.URL)
	}
	said := map[string]bool{} // all that a group says, for each that says something else
	compile := func(g *robots.Group) {
		var signals, usage []string
		for _, s := range slices.Concat(p.file.ContentSignals(), g.ContentSignals()) {
			signals = append(signals, s.Value)
		}
		for _, u := range slices.Concat(p.file.ContentUsage(), g.ContentUsage()) {
			usage = append(usage, u.Value)
		}
		// What can't stand in a header is left out; the linter says so.
		p.signals[g], _ = headers.CompileSignals(signals, usage, licenses)
		if g != nil || p.file.Star() == nil { // else nobody is without a group
			said[strings.Join(signals, "\n")+"\x00"+strings.Join(usage, "\n")] = true
		}
	}
	compile(nil)
	for g := range p.terms {
		compile(g)
	}
	p.signalsVary = len(said) > 1
}

// SignalsVary reports whether Signals differ from group to group, so that the
// response must say so in Vary.
func (p *Policy) SignalsVary() bool { return p.signalsVary }

// noindexGroups are the groups whose Noindex lines are for one crawler or
// several, found when they are first asked for.
type noindexGroups struct {
	once   sync.Once
	own    []*robots.Group // with Noindex lines
	others bool            // the file names some crawler
}

// NoindexVaries reports whether the Noindex lines treat a target differently
// for different crawlers, so that the response must say so in Vary. Lines in
// the group for `*` are for all clients that have no other group; lines in
// another group are for its crawlers, by name. It allocates nothing but the
// first time.
func (p *Policy) NoindexVaries(v *robots.Views) bool {
	n := &p.noindex
	n.once.Do(func() {
		for _, g := range p.file.Groups() {
			if g == p.file.Star() {
				continue
			}
			n.others = true
			if len(g.NoindexRules()) > 0 {
				n.own = append(n.own, g)
			}
		}
	})
	if n.others && p.file.Star().NoindexViews(v) != nil {
		return true
	}
	for _, g := range n.own {
		if g.NoindexViews(v) != nil {
			return true
		}
	}
	return false
}

// Signals returns the lines of a group that have a header form. g is nil for a
// client that no group binds. It is nil unless Rules.Signals is set.
func (p *Policy) Signals(g *robots.Group) *headers.Signals { return p.signals[g] }
