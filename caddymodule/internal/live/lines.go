package live

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Lines implements statusapi.Reporter.
func (r *Reporter) Lines(scope statusapi.Scope, query statusapi.LinesQuery) (answer *statusapi.Lines, err error) {
	answer = linesOf(query, r.shared(scope), r.app.Counters.View(scope, statusapi.SpanHour).Lines, r.allInForce(scope))
	if query.Text {
		answer.Files, err = r.texts(scope, query.ID)
	}
	return answer, err
}

// linesOf is Lines without files, of counts that it may change, and of what is in force in the scope.
func linesOf(query statusapi.LinesQuery, shared sharedFiles, list []*counters.LineCount, all iter.Seq[*inForce]) *statusapi.Lines {
	wanted := parseID(query.ID)
	list = slices.DeleteFunc(list, func(n *counters.LineCount) bool {
		return query.ID != "" && shared.idOf(n) != wanted || query.Refused && statusapi.Refused(n.Decided) == 0
	})
	answer := &statusapi.Lines{Total: len(list), Lines: []statusapi.Line{}}
	shown := topOf(cmp.Or(query.Limit, statusapi.DefaultLimit), list, func(a, b *counters.LineCount) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(statusapi.Refused(b.Decided), statusapi.Refused(a.Decided)), strings.Compare(a.Origin.Host, b.Origin.Host),
			strings.Compare(b.Origin.Scheme, a.Origin.Scheme), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Number, b.Number),
			strings.Compare(a.Text, b.Text), cmp.Compare(a.ID, b.ID))
	}).first
	in := make(map[originID]*inForce, len(shown)) // nil if it is not in force
	for i := range shown {
		in[shared.idOf(&shown[i])] = nil
	}
	for p := range all {
		if found, ok := in[p.id]; ok && found == nil {
			in[p.id] = new(*p)
		}
	}
	for i := range shown {
		n := &shown[i]
		answer.Lines = append(answer.Lines, in[shared.idOf(n)].line(n))
	}
	return answer
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
	line.File = p.Rules.FileOf(n.Layer)
	if place := p.placeOf(n); place != nil {
		line.File = place.File
	}
	text, number, found := p.hasLine(n)
	line.Rule, line.InText = cmp.Or(text, line.Rule), number
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
// are in no robots.txt. For a line of the file, it returns its text, if that sets a limit, and
// its number in the file.
func (p *inForce) hasLine(n *counters.LineCount) (text string, number int, found bool) {
	if info := n.Layer.Info(); !info.Published {
		return "", 0, !info.ByText || p.placeOf(n) != nil
	}
	group := p.group(n)
	if group == nil {
		return "", 0, false
	}
	is := func(line int, allow bool, pattern string, reason judge.Reason) bool {
		layer, at := p.Rules.Origin(line)
		if reason == 0 || reason == judge.CrawlDelay {
			at = 0
		}
		return n.ID == counters.NewLineID(p.SourceID, layer, n.Group, allow, pattern, reason, at)
	}
	for _, rule := range group.Rules() {
		if is(rule.Line, rule.Allow, rule.Pattern, 0) {
			return n.Text, rule.Line, true
		}
	}
	if delay, ok := group.CrawlDelay(); ok && is(delay.Line, false, "", judge.CrawlDelay) {
		return judge.CrawlDelay.Info().Field + ": " + delay.String(), delay.Line, true
	}
	for _, rate := range group.RequestRates() {
		if is(rate.Line, false, "", judge.RequestRate) {
			return judge.RequestRate.Info().Field + ": " + rate.String(), rate.Line, true
		}
	}
	for _, visit := range group.VisitTimes() {
		if is(visit.Line, false, "", judge.VisitTime) {
			return judge.VisitTime.Info().Field + ": " + visit.Window.String(), visit.Line, true
		}
	}
	return "", 0, false
}
