package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Source is one version of a robots.txt.
type Source struct {
	// Name is the name that it was given: a file or a URL.
	Name string `json:"name"`
	// Hosts are the hosts of the requests that were judged by it, at most 100. It is
	// empty if the log has no hosts.
	Hosts []string `json:"hosts"`
	// From and To say when it was in force: from From on and before To. nil means no
	// limit.
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
	// State is the result of reading it: loaded, missing or not_robots.
	State string `json:"state"`
	// Text is the text that requests were judged by: that of the site, with the
	// lines of the policy if there is one.
	Text string `json:"text"`
	// Tag is the name of the version in Caddy's log (robots>version); "" without a file.
	Tag string `json:"version"`
	// Requests is the number of requests that were judged by it.
	Requests int64 `json:"requests"`
	// Notes say which of its lines cannot be enforced.
	Notes []string `json:"notes"`
}

// Line is a line of a robots.txt or of a policy, or a hidden rule.
type Line struct {
	Source int `json:"source"` // index in Report.Sources
	// Layer is where the line comes from: site is the site's own robots.txt; policy
	// is the policy, whose lines the operator's configuration adds to the
	// published robots.txt; hidden is a path in the policy that is enforced
	// but not published; limit is a limit in the operator's configuration.
	Layer string `json:"layer"`
	Line  int    `json:"line"` // in the site's own file, or in the configuration
	// File is the name of the file of the configuration that has Line, such as
	// Caddyfile; "" if it is not known, and for the layer file.
	File string `json:"file,omitempty"`
	// TextLine is its line in Source.Text; 0 for hidden rules and limits, which are not
	// in that text.
	TextLine int    `json:"text_line"`
	Text     string `json:"text"`
	Group    string `json:"group"` // the tokens of its group, joined by ", "
	// Kind is allow, disallow, crawl-delay, request-rate, visit-time or limit.
	Kind string `json:"kind"`
	// Applied is the number of requests that it decided, by allowing or disallowing
	// them. For a line that limits the pace, it is the number of requests to which the
	// limit applied. For the layer limit, it is Denied.
	Applied int64 `json:"applied"`
	// Denied is the number of those requests that it would have refused: with 403, or
	// 404 for a hidden rule, or 429 for a line that limits the pace. Unlike
	// Crawler.Denied, it includes throttled requests.
	Denied int64 `json:"denied"`
	// Crawlers are the crawlers of these requests, ordered by Applied, most first, at
	// most 50.
	Crawlers []LineCrawler `json:"crawlers"`
}

// LineCrawler counts the requests of one crawler that a rule decided and would have
// refused. Applied and Denied are as in Line.
type LineCrawler struct {
	Name    string `json:"name"`
	Applied int64  `json:"applied"`
	Denied  int64  `json:"denied"`
}

// Version is a robots.txt and the time from which it was in force.
type Version struct {
	Name     string    // a file or a URL, for the report
	From     time.Time // zero: in force from the beginning
	Response judge.Response
}

// source is a version of a robots.txt with its counts.
type source struct {
	Source
	timeline *timeline // it is one of its sources
	from     int64     // nanoseconds since 1970; 0: from the beginning
	until    int64     // nanoseconds since 1970; 0: no end
	edition  *origins.History
	inForce  *judge.Rules // of edition
	rules    map[ruleKey]*ruleTally
}

// ruleKey identifies a rule by its line: in Source.Text, or for a hidden rule and a
// limit in the configuration.
type ruleKey struct {
	hidden bool
	line   int
	limit  string // the text of a line of a limit, which the line of the limit stands for
}

// ruleTally counts the requests that a rule decided.
type ruleTally struct {
	rule     Line
	crawlers map[string]*LineCrawler // by name; see maxNames
}

// addSources parses versions of a robots.txt, and sorts them by time.
func (t *timeline) addSources(versions []Version) {
	versions = slices.Clone(versions)
	slices.SortStableFunc(versions, func(a, b Version) int { return a.From.Compare(b.From) })
	var before *origins.History
	for i, v := range versions {
		s := &source{Source: Source{Name: v.Name, Hosts: []string{}}, edition: t.replay.Edition(v.Response, v.From, before),
			timeline: t, rules: make(map[ruleKey]*ruleTally)}
		s.inForce, before = s.edition.Current, s.edition
		if !v.From.IsZero() {
			s.from = v.From.UnixNano()
		}
		if i > 0 {
			t.sources[i-1].until = s.from
		}
		s.addRules()
		t.sources = append(t.sources, s)
	}
}

// addRules adds the rules of the file and the hidden rules.
func (s *source) addRules() {
	for _, g := range s.inForce.File().Groups() {
		group := strings.Join(g.Tokens(), ", ")
		for _, r := range g.Rules() {
			kind := "disallow"
			if r.Allow {
				kind = "allow"
			}
			s.addRule(r.Line, group, kind)
		}
		for _, l := range s.timeline.limitsOf(g) {
			s.addRule(l.line, group, l.kind)
		}
	}
	for _, line := range s.inForce.HiddenLines() {
		s.rules[ruleKey{hidden: true, line: line}] = &ruleTally{rule: Line{Layer: managed.HiddenLayer.String(), Line: line,
			File: s.inForce.FileOf(managed.HiddenLayer), Kind: "disallow"}}
	}
}

// addRule adds one rule of the file.
func (s *source) addRule(line int, group, kind string) {
	key := ruleKey{line: line}
	if t := s.rules[key]; t != nil { // one line can be in the groups of several tokens
		known := strings.Split(t.rule.Group, ", ")
		for token := range strings.SplitSeq(group, ", ") {
			if !slices.Contains(known, token) {
				t.rule.Group += ", " + token
			}
		}
		return
	}
	written, _ := s.inForce.File().Line(line)
	layer, at := s.inForce.Origin(line)
	rule := Line{Layer: layer.String(), Line: at, TextLine: line, Text: strings.TrimSpace(written.Raw), Group: group, Kind: kind}
	if layer != judge.FileLayer {
		rule.File = s.inForce.FileOf(layer)
	}
	s.rules[key] = &ruleTally{rule: rule}
}

// count counts a request of a crawler that a rule decided.
func (s *source) count(key ruleKey, c *crawlerTally, denied bool) {
	if t := s.rules[key]; t != nil {
		name := c.Name
		if !c.Known && len(t.crawlers) >= maxNames {
			name = otherName
		}
		of := valueOf(&t.crawlers, name, func() *LineCrawler { return &LineCrawler{Name: name} })
		t.rule.Applied++
		of.Applied++
		countIf(&t.rule.Denied, denied)
		countIf(&of.Denied, denied)
	}
}

// countRuling counts a request of a crawler at the line that decided, and at those that
// limit the pace of its group.
func (s *source) countRuling(r *Ruling, v *Judged) {
	key, decided := s.lineOf(&r.Decision)
	if r.Limits != nil && v.timed {
		for _, l := range s.timeline.limitsOf(r.Group) {
			own := ruleKey{line: l.line}
			isBy := decided && own == key
			s.count(own, v.crawler, isBy && r.Action == judge.Throttle)
			decided = decided && !isBy
		}
	}
	if decided {
		s.count(key, v.crawler, r.Action != judge.Pass)
	}
}

// lineOf returns the key of the rule that decided, and whether one did.
func (s *source) lineOf(d *judge.Decision) (ruleKey, bool) {
	switch {
	case d.Layer == managed.HiddenLayer:
		return ruleKey{hidden: true, line: d.Line}, true
	case d.Reason == limits.Reason:
		return s.limitKey(d), true
	case d.Action == judge.Throttle:
		return ruleKey{line: s.paceLine(d, s.timeline.limitsOf(d.Group))}, d.Group != nil
	case d.Rule.Line > 0:
		return ruleKey{line: d.Rule.Line}, true
	}
	return ruleKey{}, false
}

// limitKey returns the key of the line of a limit that decided to throttle.
func (s *source) limitKey(d *judge.Decision) ruleKey {
	key := ruleKey{line: d.Line, limit: d.RuleText()}
	if s.rules[key] == nil {
		s.rules[key] = &ruleTally{rule: Line{Layer: d.Layer.String(), Line: d.Line, File: d.File(), Text: d.RuleText(), Kind: "limit"}}
	}
	return key
}

// paceLine returns the line in Source.Text of that of the group's limits that decided
// to throttle; 0 if it is not found.
func (s *source) paceLine(d *judge.Decision, limits []limit) int {
	for _, l := range limits {
		if layer, at := s.inForce.Origin(l.line); layer == d.Layer && at == d.Line {
			return l.line
		}
	}
	return 0
}

// limit is a line of a group that limits the pace.
type limit struct {
	line int
	kind string        // Line.Kind
	per  time.Duration // the time over which it counts requests; 0 for a Visit-time
}

// limitsOf returns the limits of a group, first the Crawl-delay.
func (t *timeline) limitsOf(g *robots.Group) (list []limit) {
	if d, ok := g.CrawlDelay(); ok {
		list = append(list, limit{d.Line, "crawl-delay", min(d.Delay, t.longest)})
	}
	for _, r := range g.RequestRates() {
		list = append(list, limit{r.Line, "request-rate", r.Per})
	}
	for _, v := range g.VisitTimes() {
		list = append(list, limit{line: v.Line, kind: "visit-time"})
	}
	return list
}

// maxRuleCrawlers is the number of crawlers of one rule in the report.
const maxRuleCrawlers = 50

// report returns the Source, which has an index in its list, and its lines for the report.
func (s *source) report(index int) (Source, []Line) {
	r := s.Source
	r.State, r.Text, r.Tag, r.Notes = s.inForce.Outcome().String(), string(s.inForce.Text()), s.inForce.Tag(), s.notes()
	slices.Sort(r.Hosts)
	if s.from != 0 {
		r.From = utc(s.from)
	}
	if s.until != 0 {
		r.To = utc(s.until)
	}
	rules := []Line{}
	for _, t := range s.rules {
		rule := t.rule
		rule.Source, rule.Crawlers = index, []LineCrawler{}
		for _, c := range t.crawlers {
			rule.Crawlers = append(rule.Crawlers, *c)
		}
		sortMost(rule.Crawlers, func(c *LineCrawler) (int64, string) { return c.Applied, c.Name })
		rule.Crawlers = rule.Crawlers[:min(len(rule.Crawlers), maxRuleCrawlers)]
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b Line) int {
		return cmp.Or(cmp.Compare(layerOrder(a.Layer), layerOrder(b.Layer)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.TextLine, b.TextLine))
	})
	return r, rules
}

// layerOrder returns the position of a layer in the report.
func layerOrder(layer string) int {
	order := []string{judge.FileLayer.String(), managed.Layer.String(), managed.HiddenLayer.String(), limits.Layer.String()}
	return slices.Index(order, layer)
}

// notes say which lines of the file cannot be enforced.
func (s *source) notes() []string {
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
