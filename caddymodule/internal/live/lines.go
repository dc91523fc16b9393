package live

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Lines implements statusapi.Reporter.
func (r *Reporter) Lines(scope statusapi.Scope, query statusapi.LinesQuery) (*statusapi.Lines, error) {
	shared, wanted := r.shared(scope), parseID(query.OriginID)
	all := slices.DeleteFunc(r.app.Counters.Lines(scope), func(n counters.LineCount) bool {
		return query.OriginID != "" && shared.idOf(&n) != wanted || query.Refused && statusapi.Refused(n.Decided) == 0
	})
	slices.SortFunc(all, func(a, b counters.LineCount) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(statusapi.Refused(b.Decided), statusapi.Refused(a.Decided)), strings.Compare(a.Origin.Host, b.Origin.Host),
			strings.Compare(b.Origin.Scheme, a.Origin.Scheme), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Number, b.Number),
			strings.Compare(a.Text, b.Text))
	})
	page, list := statusapi.Part(query.Pages, all)
	in := make(map[originID]*inForce, len(list)) // nil if it is not in force
	for i := range list {
		in[shared.idOf(&list[i])] = nil
	}
	for p := range r.allInForce(scope) {
		if found, ok := in[p.id]; ok && found == nil {
			in[p.id] = new(*p)
		}
	}
	answer := &statusapi.Lines{Page: page, Lines: []statusapi.Line{}}
	for i := range list {
		n := &list[i]
		answer.Lines = append(answer.Lines, in[shared.idOf(n)].line(n))
	}
	return answer, nil
}

// line describes a line that n counts. p has it, or is nil.
func (p *inForce) line(n *counters.LineCount) statusapi.Line {
	line := statusapi.Line{
		Origin: n.Origin.String(), Site: n.Site, Layer: n.Layer.String(), Number: n.Number, Group: n.Group, Rule: n.Text,
		Reason: n.Reason.String(), Tokens: []string{}, LineCounts: n.LineCounts,
	}
	if line.Rule == "" && !n.Layer.Info().Secret {
		line.Rule = n.Reason.Info().Field
	}
	if n.Group != "" {
		line.Tokens = []string{n.Group}
	}
	if p == nil {
		return line
	}
	if group := p.group(n); group != nil {
		line.Tokens = first(group.Tokens())
	}
	line.OriginID, line.File = p.id.String(), p.Rules.FileOf(n.Layer)
	if place := p.placeOf(n); place != nil {
		line.File = place.File
	}
	text, found := p.hasLine(n)
	line.Rule = cmp.Or(text, line.Rule)
	line.Removed = !p.Rules.DeniesAll() && statusapi.Refused(n.Decided) > 0 && !found
	return line
}

// sharedFiles has what is in force for all origins of a handler, by Handler.SourceID.
type sharedFiles map[uint64][]*inForce

func (r *Reporter) shared(scope statusapi.Scope) sharedFiles {
	files := make(sharedFiles)
	for _, h := range r.handlersIn(scope) {
		if !h.engine().Origins().PerOrigin() {
			for p := range h.inForce(scope) {
				files[h.SourceID] = append(files[h.SourceID], new(*p))
			}
		}
	}
	return files
}

// idOf returns the ID of the origin that has, or had, the line that n counts.
func (s sharedFiles) idOf(n *counters.LineCount) originID {
	for _, p := range s[n.Source] {
		if p.has(n.Origin) {
			return p.id
		}
	}
	return originIDOf(n.Source, n.Origin)
}

// group returns the group of the line that n counts; nil if it is in none, or the file does not
// have the group any more.
func (p *inForce) group(n *counters.LineCount) *robots.Group {
	if n.Group == "*" {
		return p.Rules.File().Star()
	}
	return p.Rules.File().Named(n.Group)
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
	statusapi.Add(&a.Decided, b.Decided)
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
		if counted || number > 0 && p.Rules.Published() && layer != judge.FileLayer {
			list = append(list, statusapi.TextLine{Number: number, Layer: layer.String(), At: at, Counts: n.LineCounts})
		}
	}
	return list
}

// countsIn returns the counts of the lines of a group for one of its tokens, by
// line number in the text. They have the text of the line, also if it sets a limit.
func (p *inForce) countsIn(g *robots.Group, token string, counts map[counters.LineID]counters.LineCount) map[int]counters.LineCount {
	found := make(map[int]counters.LineCount)
	note := func(line int, value string, allow bool, pattern string, reason judge.Reason) {
		layer, number := p.Rules.Origin(line)
		if reason == 0 || reason == judge.CrawlDelay {
			number = 0
		}
		if n, ok := counts[counters.NewLineID(p.SourceID, layer, token, allow, pattern, reason, number)]; ok {
			if value != "" {
				n.Text = reason.Info().Field + ": " + value
			}
			found[line] = n
		}
	}
	for _, rule := range g.Rules() {
		note(rule.Line, "", rule.Allow, rule.Pattern, 0)
	}
	if delay, ok := g.CrawlDelay(); ok {
		note(delay.Line, delay.String(), false, "", judge.CrawlDelay)
	}
	for _, rate := range g.RequestRates() {
		note(rate.Line, rate.String(), false, "", judge.RequestRate)
	}
	for _, visit := range g.VisitTimes() {
		note(visit.Line, visit.Window.String(), false, "", judge.VisitTime)
	}
	return found
}

// placeOf returns the line of the configuration that n counts, of a layer in which lines
// are told apart by their texts; nil if there is none.
func (p *inForce) placeOf(n *counters.LineCount) *judge.Place {
	for _, place := range p.Rules.Settings().Places {
		if n.Layer.Info().ByText && place.Layer == n.Layer && strings.HasPrefix(place.Text, n.Text) {
			return place
		}
	}
	return nil
}

// hasLine reports whether the file in force has the line that n counts or, if its layer is
// ByText, the configuration has. It returns true for other lines of the configuration that
// are in no robots.txt. For a line of the file, it returns its text, too.
func (p *inForce) hasLine(n *counters.LineCount) (text string, found bool) {
	if info := n.Layer.Info(); !info.Published {
		return "", !info.ByText || p.placeOf(n) != nil
	}
	if group := p.group(n); group != nil {
		for _, line := range p.countsIn(group, n.Group, map[counters.LineID]counters.LineCount{n.ID: *n}) {
			return line.Text, true
		}
	}
	return "", false
}
