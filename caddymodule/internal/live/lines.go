package live

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// limitNames has the names of the lines that set a limit.
var limitNames = map[judge.Reason]string{
	judge.CrawlDelay: "Crawl-delay", judge.RequestRate: "Request-rate", judge.VisitTime: "Visit-time",
	judge.Shed: "shed",
}

// Lines implements statusapi.Reporter.
func (r *Reporter) Lines(scope statusapi.Scope, query statusapi.LinesQuery) (*statusapi.Lines, error) {
	known := r.inForce(scope)
	at := indexed(known)
	type counted struct {
		statusapi.Line
		count counters.LineCount
		in    *inForce // nil if the line is in none
	}
	var list []counted
	for _, n := range r.app.Counters.Lines(scope) {
		line := statusapi.Line{
			Origin: n.Origin.String(), Site: n.Site, Layer: n.Layer.String(), Number: n.Number, Group: n.Group, Rule: n.Text,
			Reason: n.Reason.String(), LineCounts: n.LineCounts,
		}
		if line.Rule == "" && n.Layer != judge.HiddenLayer {
			line.Rule = limitNames[n.Reason]
		}
		in := at.of(&n)
		if in != nil {
			line.OriginID, line.File = in.id.String(), in.Rules.FileOf(n.Layer)
			if l := in.limitOf(&n); l != nil {
				line.File = l.File
			}
		}
		if (query.OriginID == "" || query.OriginID == line.OriginID) && (!query.Refused || line.Refused() > 0) {
			list = append(list, counted{line, n, in})
		}
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Refused(), a.Refused()), strings.Compare(a.Origin, b.Origin),
			strings.Compare(a.Layer, b.Layer), cmp.Compare(a.Number, b.Number), strings.Compare(a.Rule, b.Rule))
	})
	page, list := statusapi.Part(query.Pages, list)
	answer := &statusapi.Lines{Page: page, Lines: []statusapi.Line{}}
	tokens := make(map[*inForce]map[string][]string)
	for _, c := range list {
		c.Removed = c.in != nil && !c.in.Rules.DeniesAll() && c.Refused() > 0 && !c.in.hasLine(&c.count)
		c.Tokens = []string{}
		if c.Group != "" {
			if c.in != nil && tokens[c.in] == nil {
				tokens[c.in] = c.in.tokens()
			}
			if c.Tokens = tokens[c.in][c.Group]; c.Tokens == nil {
				c.Tokens = []string{c.Group}
			}
		}
		answer.Lines = append(answer.Lines, c.Line)
	}
	return answer, nil
}

// index finds what is in force at origins.
type index struct {
	own    map[place]*inForce
	shared []*inForce
}

type place struct {
	source uint64
	origin judge.Origin
}

func indexed(list []inForce) *index {
	x := &index{own: make(map[place]*inForce)}
	for i := range list {
		if p := &list[i]; p.shared {
			x.shared = append(x.shared, p)
		} else if at := (place{p.SourceID, p.Origin}); x.own[at] == nil {
			x.own[at] = p
		}
	}
	return x
}

// of returns what is in force that has the line that n counts, nil if it is in none.
func (x *index) of(n *counters.LineCount) *inForce {
	if p := x.own[place{n.Source, n.Origin}]; p != nil {
		return p
	}
	for _, p := range x.shared {
		if p.SourceID == n.Source && p.has(n.Origin) {
			return p
		}
	}
	return nil
}

// tokens returns the product tokens of each group, by the group's first one.
func (p *inForce) tokens() map[string][]string {
	tokens := make(map[string][]string)
	for _, g := range p.Rules.File().Groups() {
		tokens[g.Token()] = first(g.Tokens())
	}
	return tokens
}

// countsOf returns the counts of lines that are in force, summed over the origins.
func (p *inForce) countsOf(all []counters.LineCount) map[counters.LineID]counters.LineCount {
	found := make(map[counters.LineID]counters.LineCount)
	for _, n := range all {
		if n.Source == p.SourceID && p.has(n.Origin) {
			found[n.ID] = add(found[n.ID], n)
		}
	}
	return found
}

// add returns the sum of two counts of a line, with the position of the count that
// changed last.
func add(a, b counters.LineCount) counters.LineCount {
	if a.Last.Before(b.Last) {
		a, b = b, a
	}
	a.Passed += b.Passed
	a.Denied += b.Denied
	a.Throttled += b.Throttled
	a.WouldDeny += b.WouldDeny
	a.WouldThrottle += b.WouldThrottle
	a.Hour += b.Hour
	a.Day += b.Day
	return a
}

// textLines returns the lines of the text in force that decided on requests, and
// those that the policy added.
func (p *inForce) textLines(counts map[counters.LineID]counters.LineCount) []statusapi.TextLine {
	sums := make(map[int]counters.LineCount) // by number in the text
	counted := make(map[string]bool)
	for _, n := range counts {
		counted[n.Group] = true
	}
	for _, g := range p.Rules.File().Groups() {
		for _, token := range g.Tokens() {
			if !counted[token] {
				continue
			}
			for number, n := range p.countsIn(g, token, counts) {
				sums[number] = add(sums[number], n)
			}
		}
	}
	var list []statusapi.TextLine
	for number := range bytes.Count(p.Rules.Text(), []byte("\n")) + 2 {
		layer, at := p.Rules.Origin(number)
		n, counted := sums[number]
		if counted || number > 0 && p.Rules.Published() && layer == judge.PolicyLayer {
			list = append(list, statusapi.TextLine{Number: number, Layer: layer.String(), At: at, Counts: n.LineCounts})
		}
	}
	return list
}

// countsIn returns the counts of the lines of a group for one of its tokens, by
// line number in the text.
func (p *inForce) countsIn(g *robots.Group, token string, counts map[counters.LineID]counters.LineCount) map[int]counters.LineCount {
	found := make(map[int]counters.LineCount)
	note := func(line int, allow bool, pattern string, reason judge.Reason, number uint64) {
		layer, _ := p.Rules.Origin(line)
		if n, ok := counts[counters.NewLineID(p.SourceID, layer, token, allow, pattern, reason, number)]; ok {
			found[line] = n
		}
	}
	for _, rule := range g.Rules() {
		note(rule.Line, rule.Allow, rule.Pattern, 0, 0)
	}
	if delay, ok := g.CrawlDelay(); ok {
		note(delay.Line, false, "", judge.CrawlDelay, 0)
	}
	for _, rate := range g.RequestRates() {
		note(rate.Line, false, "", judge.RequestRate, counters.RateNumber(rate))
	}
	for _, visit := range g.VisitTimes() {
		note(visit.Line, false, "", judge.VisitTime, counters.WindowNumber(visit.Window))
	}
	return found
}

// limitOf returns the limit of the configuration with the paths of a line that n
// counts; nil if there is none, or if it is another line.
func (p *inForce) limitOf(n *counters.LineCount) *config.Limit {
	for i := range p.Settings.Limits {
		l := &p.Settings.Limits[i]
		if name := l.Name(); n.Layer == judge.LimitLayer && strings.HasPrefix(n.Text, name[:min(len(name), len(n.Text))]) {
			return l
		}
	}
	return nil
}

// hasLine reports whether the file in force has the line that n counts or, for a
// limit, the configuration has one with its paths. It returns true for other lines of
// the configuration that are in no robots.txt.
func (p *inForce) hasLine(n *counters.LineCount) bool {
	switch n.Layer {
	case judge.HiddenLayer, judge.ShedLayer:
		return true
	case judge.LimitLayer:
		return p.limitOf(n) != nil
	}
	group := p.Rules.File().Star()
	if n.Group != "*" {
		group = p.Rules.File().Named(n.Group)
	}
	return group != nil && len(p.countsIn(group, n.Group, map[counters.LineID]counters.LineCount{n.ID: *n})) > 0
}
