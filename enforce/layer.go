package enforce

import "github.com/caddy-robots/caddy-robots/enforce/managed"

// Layer says where a rule comes from.
type Layer uint8

const (
	// NoLayer is that of a decision that no line made.
	NoLayer Layer = iota
	// SiteLayer is the site's own robots.txt.
	SiteLayer
	// PolicyLayer is the operator's policy, whose lines are published with
	// the site's.
	PolicyLayer
	// HiddenLayer is the hidden paths of the operator's policy, which are
	// published nowhere.
	HiddenLayer
)

// String returns site, policy, hidden, or "" for NoLayer.
func (l Layer) String() string {
	return [...]string{"", "site", "policy", "hidden"}[min(l, HiddenLayer)]
}

// Origin returns where a line of File comes from: the layer, and the line of
// the site's own robots.txt or of the operator's configuration. A line of 0
// has no layer.
func (p *Policy) Origin(line int) (Layer, int) {
	switch {
	case line == 0:
		return NoLayer, 0
	case p.merged == nil:
		return SiteLayer, line
	}
	from := p.merged.Origin(line)
	if from.Layer == managed.Site {
		return SiteLayer, from.Line
	}
	return PolicyLayer, from.Line
}

// from notes which line of p's file decided.
func (d *Decision) from(p *Policy, line int) { d.Layer, d.Line = p.Origin(line) }
