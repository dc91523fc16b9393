package enforce

import "github.com/caddy-robots/caddy-robots/internal/managed"

// Layer is where a line comes from: the site's own file, or a part of the
// configuration.
type Layer uint8

const (
	// NoLayer is the layer of a decision for which no line was the reason.
	NoLayer Layer = iota
	// SiteLayer stands for the site's own robots.txt.
	FileLayer
	// PolicyLayer stands for the managed policy: its lines are published with
	// those of the site.
	PolicyLayer
	// HiddenLayer stands for the hidden paths of the managed policy. They are
	// published nowhere.
	HiddenLayer
)

// String returns site, policy, hidden, or "" for NoLayer.
func (l Layer) String() string {
	return [...]string{"", "site", "policy", "hidden"}[min(l, HiddenLayer)]
}

// Origin returns where a line of File comes from: its layer, and its line
// number in the site's own robots.txt or in the configuration. Lines count from
// 1. For line 0, it returns NoLayer.
func (p *Rules) Origin(line int) (Layer, int) {
	switch {
	case line == 0:
		return NoLayer, 0
	case p.merged == nil:
		return FileLayer, line
	}
	from := p.merged.Origin(line)
	if from.Layer == managed.Site {
		return FileLayer, from.Line
	}
	return PolicyLayer, from.Line
}

// FileOf returns the name of the file that has the lines of a layer: robots.txt, or
// that of the configuration, such as Caddyfile (managed.Policy.File). It returns ""
// if the name is not known, and for NoLayer.
func (p *Rules) FileOf(l Layer) string {
	switch {
	case l == FileLayer:
		return "robots.txt"
	case l == NoLayer || p.settings.Managed == nil:
		return ""
	}
	return p.settings.Managed.File
}

// File returns the name of the file that has d.Line (see Rules.FileOf).
func (d *Decision) File() string {
	if d.Rules == nil {
		return ""
	}
	return d.Rules.FileOf(d.Layer)
}

// from sets the layer and the line from a line of p's file.
func (d *Decision) from(p *Rules, line int) { d.Layer, d.Line = p.Origin(line) }
