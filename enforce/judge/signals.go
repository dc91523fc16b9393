package judge

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// compileSignals compiles the lines that have a header form, for each group and
// for clients without a group. Lines before the first User-agent line apply to
// all clients; the lines of a group follow them.
func (p *Rules) compileSignals() {
	p.signals = make(map[*robots.Group]*headers.Signals)
	var licenses []string
	for _, l := range p.file.Licenses() {
		licenses = append(licenses, l.URL)
	}
	combinations := map[string]bool{} // each different combination of lines that a group has
	compile := func(g *robots.Group) {
		var signals, usage []string
		for _, s := range slices.Concat(p.file.ContentSignals(), g.ContentSignals()) {
			signals = append(signals, s.Value)
		}
		for _, u := range slices.Concat(p.file.ContentUsage(), g.ContentUsage()) {
			usage = append(usage, u.Value)
		}
		// Values that a header can't contain are left out; the linter reports
		// them.
		p.signals[g] = headers.CompileSignals(signals, usage, licenses)
		if g != nil || p.file.Star() == nil { // with a group for `*`, no crawler is without a group
			combinations[strings.Join(signals, "\n")+"\x00"+strings.Join(usage, "\n")] = true
		}
	}
	compile(nil)
	for _, g := range p.file.Groups() {
		compile(g)
	}
	p.signalsVary = len(combinations) > 1
}

// SignalsVary reports whether Signals differ between groups. If so, responses
// need "Vary: User-Agent".
func (p *Rules) SignalsVary() bool { return p.signalsVary }

// NoindexVaries reports whether Noindex lines apply to a target for some
// clients only. If so, responses need "Vary: User-Agent". Noindex lines in the
// group for `*` apply to all clients that have no other group; those in another
// group apply to its crawlers.
func (p *Rules) NoindexVaries(v *robots.Views) bool {
	return slices.ContainsFunc(p.noindex, func(g *robots.Group) bool { return g.NoindexViews(v).Line > 0 })
}

// Signals returns the lines of a group that have a header form. g is nil for a
// client without a group. The result is nil unless Settings.Signals is set.
func (p *Rules) Signals(g *robots.Group) *headers.Signals { return p.signals[g] }
