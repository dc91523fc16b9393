package enforce

import (
	"slices"

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
	}
	compile(nil)
	for g := range p.terms {
		compile(g)
	}
}

// Signals returns what the file says to a group, nil for nobody's, in lines
// that have a header form. It is nil unless Rules.Signals is set.
func (p *Policy) Signals(g *robots.Group) *headers.Signals { return p.signals[g] }
