package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Source is one version of a robots.txt.
type Source struct {
	// Name is the name that it was given: a file or a URL.
	Name string
	// Hosts are the hosts of the requests that were judged by it, at most 100. It is
	// empty if the log has no hosts.
	Hosts []string
	// From and To say when it was in force: from From on and before To. nil means no
	// limit.
	From *time.Time
	To   *time.Time
	// State is the result of reading it: loaded, missing or not_robots.
	State string
	// Text is the text that requests were judged by: that of the site, with the
	// lines of the policy if there is one.
	Text string
	// Tag is the name of the version in Caddy's log (robots>version); "" without a file.
	Tag string
	// Requests is the number of requests that were judged by it.
	Requests int64
	// Notes say which of its lines cannot be enforced.
	Notes []string
	// Lines are those that allow, disallow or limit the pace, also those that never applied,
	// in the order of Text; after them those that are not in Text.
	Lines []*Line

	timeline *timeline // it is one of its sources
	edition  *origins.History
	inForce  *judge.Rules // of edition
}

// Line is a line of a robots.txt or of a policy, or a hidden rule.
type Line struct {
	// Layer is where the line comes from: site is the site's own robots.txt; policy
	// is the policy, whose lines the operator's configuration adds to the
	// published robots.txt; hidden is a path in the policy that is enforced
	// but not published; limit is a limit in the operator's configuration.
	Layer string
	Line  int // in the site's own file, or in the configuration
	// File is the name of the file of the configuration that has Line, such as
	// Caddyfile; "" if it is not known, and for the layer file.
	File string
	// TextLine is its line in Source.Text; 0 for hidden rules and limits, which are not
	// in that text.
	TextLine int
	Text     string
	// Applied is the number of requests that it decided, by allowing or disallowing
	// them. For a line that limits the pace, it is the number of requests to which the
	// limit applied. For the layer limit, it is Denied.
	Applied int64
	// Denied is the number of those requests that it would have refused: with 403, or
	// 404 for a hidden rule, or 429 for a line that limits the pace. Unlike
	// Crawler.Denied, it includes throttled requests.
	Denied int64
	// Crawlers are the crawlers of these requests, most first, at most 50 and others.
	Crawlers []Count

	clients counter
}

// Version is a robots.txt and the time from which it was in force.
type Version struct {
	Name     string    // a file or a URL, for the report
	From     time.Time // zero: in force from the beginning
	Response judge.Response
}

// addSources parses versions of a robots.txt, and sorts them by time.
func (t *timeline) addSources(versions []Version) {
	versions = slices.Clone(versions)
	slices.SortStableFunc(versions, func(a, b Version) int { return a.From.Compare(b.From) })
	var before *origins.History
	for i, v := range versions {
		s := &Source{Name: v.Name, Hosts: []string{}, Lines: []*Line{}, edition: t.replay.Edition(v.Response, v.From, before), timeline: t}
		s.inForce, before = s.edition.Current, s.edition
		if !v.From.IsZero() {
			s.From = &versions[i].From
		}
		if i > 0 {
			t.sources[i-1].To = s.From
		}
		t.sources = append(t.sources, s)
	}
}

// lineKey tells the lines of a source apart.
type lineKey struct {
	layer judge.Layer
	line  int    // in the file of its layer; 0 in a configuration in JSON
	text  int    // in Source.Text; 0 if it is not there, and of the decision of a line that limits the pace
	step  string // the text of a step's line, of which a line of the configuration can have several
}

// setLines sets the lines of the file that allow, disallow or limit the pace, in order, and
// then hidden rules and limits, with the rows that they decided or applied to.
func (s *Source) setLines(all rows) {
	known := make(map[lineKey]*Line)
	of := func(key lineKey, file string, number int, text string) *Line {
		return valueOf(&known, key, func() *Line {
			return &Line{Layer: key.layer.String(), Line: key.line, File: file, TextLine: number, Text: text, clients: make(counter)}
		})
	}
	paces := make(map[*robots.Group][]*Line)
	file := s.inForce.File()
	inText := func(number int) *Line {
		written, _ := file.Line(number)
		layer, at := s.inForce.Origin(number)
		name := ""
		if layer != judge.FileLayer {
			name = s.inForce.FileOf(layer)
		}
		return of(lineKey{layer: layer, line: at, text: number}, name, number, strings.TrimSpace(written.Raw))
	}
	for _, g := range file.Groups() {
		for _, r := range g.Rules() {
			inText(r.Line)
		}
		for _, l := range s.timeline.limitsOf(g) {
			paces[g] = append(paces[g], inText(l.line))
		}
	}
	for _, line := range s.inForce.HiddenLines() {
		of(lineKey{layer: managed.HiddenLayer, line: line}, s.inForce.FileOf(managed.HiddenLayer), 0, "")
	}
	for key, row := range all {
		if key.source != s || key.client == nil {
			continue
		}
		by := known[key.lineKey]
		if key.step != "" {
			by = of(key.lineKey, row.File, 0, row.Rule)
		}
		for _, l := range paces[key.group] {
			if by == nil && key.action == judge.Throttle && l.Layer == row.Layer && l.Line == key.line {
				by = l
			} else if key.paced {
				l.count(row, false)
			}
		}
		if by != nil {
			by.count(row, key.action != judge.Pass)
		}
	}
	s.Lines = slices.AppendSeq(s.Lines, maps.Values(known))
	slices.SortFunc(s.Lines, func(a, b *Line) int {
		if (a.TextLine == 0) != (b.TextLine == 0) {
			return b.TextLine - a.TextLine
		}
		return cmp.Or(a.TextLine-b.TextLine, strings.Compare(a.Layer, b.Layer), a.Line-b.Line, strings.Compare(a.Text, b.Text))
	})
	for _, l := range s.Lines {
		l.Crawlers = l.clients.top(maxRuleCrawlers)
	}
}

// count counts the requests of a row.
func (l *Line) count(r *Row, refused bool) {
	l.Applied += r.Requests
	l.clients[r.client.Name] += r.Requests
	addIf(&l.Denied, refused, r.Requests)
}

// limit is a line of a group that limits the pace.
type limit struct {
	line int
	per  time.Duration // the time over which it counts requests; 0 for a Visit-time
}

// limitsOf returns the limits of a group, first the Crawl-delay.
func (t *timeline) limitsOf(g *robots.Group) (list []limit) {
	if d, ok := g.CrawlDelay(); ok {
		list = append(list, limit{d.Line, min(d.Delay, t.longest)})
	}
	for _, r := range g.RequestRates() {
		list = append(list, limit{r.Line, r.Per})
	}
	for _, v := range g.VisitTimes() {
		list = append(list, limit{line: v.Line})
	}
	return list
}

// maxRuleCrawlers is the number of crawlers of one rule in the report.
const maxRuleCrawlers = 50

// report completes what the report says of the source.
func (s *Source) report() {
	s.State, s.Text, s.Tag, s.Notes = s.inForce.Outcome().String(), string(s.inForce.Text()), s.inForce.Tag(), s.notes()
	slices.Sort(s.Hosts)
}

// notes say which lines of the file cannot be enforced.
func (s *Source) notes() []string {
	notes := []string{}
	for _, token := range s.inForce.Unenforceable() {
		notes = append(notes, token+" is a preference and not a crawler: no request carries it, so no server can enforce the rules for it")
	}
	for _, token := range s.inForce.Ignored() {
		notes = append(notes, token+" is ignored: browsers have this word in their User-Agents")
	}
	if err := s.inForce.MergeError(); err != nil {
		notes = append(notes, "the lines of the policy are not in force: "+err.Error())
	}
	return notes
}
