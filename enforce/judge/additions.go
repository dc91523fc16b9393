package judge

import (
	"cmp"
	"errors"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Additions are what the site's operator adds to robots.txt: lines that are
// published with those of the site, and hidden paths. They are immutable.
type Additions struct {
	// File is the name of the configuration file that the lines come from, such
	// as Caddyfile; "" if it is not known.
	File string
	// Layer is that of the lines that Merge adds.
	Layer Layer
	// Hidden are paths that are denied to every crawler and published nowhere:
	// each is the pattern of a Disallow, with its line in the configuration. The
	// decisions of these have the reason HiddenReason and the layer HiddenLayer.
	Hidden       []robots.Rule
	HiddenReason Reason
	HiddenLayer  Layer
	// Merge adds the lines to a site's own file, which is empty if the site has
	// none. If it returns an error, the site's own file is in force. Merge is nil
	// if there are no lines.
	Merge func(file []byte, s *Settings) (Merged, error)
}

// Merged is a site's file with the lines of Additions. It is immutable.
type Merged interface {
	// Text returns the whole file.
	Text() []byte
	// Origin returns where a line of Text comes from: FileLayer with the line in
	// the site's own file, Additions.Layer with the line in the configuration, or
	// NoLayer if it is only a comment or frame for the lines of the operator.
	Origin(line int) (Layer, int)
}

// addLines makes the text of the rules: the site's own file with the lines of
// the operator, if there are any and they can be merged.
func (p *Rules) addLines() {
	p.text = p.content.Body
	if !p.settings.Publishes() || p.content.Apart {
		return
	}
	m, err := p.settings.additions.Merge(p.content.Body, &p.settings.Settings)
	if err != nil {
		p.mergeErr = err
		return
	}
	p.merged, p.text = m, m.Text()
}

// Publishes reports whether the operator adds lines that are published.
func (s *Compiled) Publishes() bool { return s.additions.Merge != nil }

// Published reports whether Text has lines of the operator. If so, clients that
// request /robots.txt must receive Text, not the site's own file.
func (p *Rules) Published() bool { return p.merged != nil }

// Merged returns what Settings.Edit made of the site's file, or nil if Text
// has no lines of the operator.
func (p *Rules) Merged() Merged { return p.merged }

// MergeError returns why the lines of the operator are not in force. It returns
// nil if they are, or if there are none.
func (p *Rules) MergeError() error {
	if p.content.Apart && p.settings.Publishes() {
		return errApart
	}
	return p.mergeErr
}

var errApart = errors.New("requests for /robots.txt do not come through the handler that adds lines, " +
	"so the lines can't be published and are not in force")

// Origin returns where a line of File comes from: its layer, and its line
// number in the site's own robots.txt, or in the configuration if that has it. Lines count from
// 1. For line 0, it returns NoLayer.
func (p *Rules) Origin(line int) (Layer, int) {
	switch {
	case line == 0:
		return NoLayer, 0
	case p.merged == nil:
		return FileLayer, line + max(0, p.settings.SourceLine-1)
	}
	layer, line := p.merged.Origin(line)
	if layer == FileLayer {
		line += max(0, p.settings.SourceLine-1)
	}
	return cmp.Or(layer, p.settings.additions.Layer), line
}

// FileOf returns the name of the file that has the lines of a layer: robots.txt,
// Settings.SourceFile, Additions.File, or that of the first of Settings.Places in the layer.
// It returns "" if the name is not known.
func (p *Rules) FileOf(l Layer) string {
	switch l {
	case FileLayer:
		return cmp.Or(p.settings.SourceFile, "robots.txt")
	case NoLayer:
		return ""
	case p.settings.additions.Layer, p.settings.additions.HiddenLayer:
		return p.settings.additions.File
	}
	for _, place := range p.settings.Places {
		if place.Layer == l {
			return place.File
		}
	}
	return ""
}

// File returns the name of the file that has d.Line: that of its Place, or Rules.FileOf.
func (d *Decision) File() string {
	switch {
	case d.place != nil:
		return d.place.File
	case d.Rules == nil:
		return ""
	}
	return d.Rules.FileOf(d.Layer)
}

// from sets the layer and the line from a line of p's file.
func (d *Decision) from(p *Rules, line int) { d.Layer, d.Line = p.Origin(line) }

// hiddenGroup returns a group that disallows hidden paths. The rule of paths[i]
// is on line i+2.
func hiddenGroup(paths []robots.Rule) *robots.Group {
	file := []byte("User-agent: *\n")
	for _, h := range paths {
		file = append(file, "Disallow: "+h.Pattern+"\n"...)
	}
	return robots.Parse(file).Star()
}

// hiddenRule returns the hidden path that denies the request to an agent, or nil.
// Hidden paths are denied to every crawler, and to other clients if the site's operator
// applies the group for `*` to them. No log or page contains hidden paths, only their
// lines in the configuration.
func (c *Client) hiddenRule(a *crawler.Agent) *robots.Rule {
	settings := c.rules.settings
	verdict := settings.hidden.MatchViews(c.views)
	if verdict.Allowed {
		return nil
	}
	if a.Class == crawler.Person || a.Class == crawler.Webhook || !settings.holds(a.Class) || !c.starApplies(a) {
		return nil
	}
	return &settings.additions.Hidden[verdict.Rule().Line-2]
}

// Hides reports whether the path of a request target is hidden.
func (p *plans) Hides(target string) bool {
	if len(p.settings.additions.Hidden) == 0 {
		return false
	}
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	return !p.settings.hidden.MatchViews(v).Allowed
}

// HiddenLines returns the lines in the configuration that have hidden paths.
func (p *plans) HiddenLines() (lines []int) {
	for _, h := range p.settings.additions.Hidden {
		lines = append(lines, h.Line)
	}
	return lines
}

// HiddenPath returns the hidden path, in robots.txt syntax, that caused the
// decision, if its reason is Hidden; otherwise "". Show it only to the site's
// operator, and never in an answer, a log or a page.
func (d *Decision) HiddenPath() string {
	if d.hidden == nil {
		return ""
	}
	return d.hidden.Pattern
}
