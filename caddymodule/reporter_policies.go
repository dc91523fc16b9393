package caddymodule

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// maxShown bounds each list of notes, tokens or findings of one policy.
const maxShown = 100

// Origins implements status.Reporter.
func (r *reporter) Origins(scope status.Scope, query status.OriginsQuery) (*status.Origins, error) {
	list := r.policies(scope)
	if query.ID != "" {
		list = slices.DeleteFunc(list, func(p policyOf) bool { return p.id != query.ID })
		if len(list) == 0 {
			return nil, status.Errorf(http.StatusNotFound, "there is no policy %q: a reload may have replaced it, or it was not read yet", query.ID)
		}
	}
	now := time.Now()
	if query.Broken {
		list = slices.DeleteFunc(list, func(p policyOf) bool { return p.status(now).OK })
	}
	if query.Grace {
		list = slices.DeleteFunc(list, func(p policyOf) bool { return len(p.Earlier) == 0 })
	}
	if query.Text {
		query.Limit = min(cmp.Or(query.Limit, status.MaxTexts), status.MaxTexts)
	}
	page, from, to := query.Of(len(list))
	answer := &status.Origins{Page: page, Origins: []status.Origin{}}
	var counted []counters.LineCount
	if query.Text {
		counted = r.app.counters.Lines(scope)
	}
	for _, p := range list[from:to] {
		policy := p.status(now)
		policy.Sites = p.sites
		if query.Text {
			policy.Text = string(p.Rules.Text())
			policy.Lines = p.lines(p.countsOf(counted))
			policy.Findings = r.findings.of(p.Rules, p.handler.running.Load().Registry())
		}
		answer.Origins = append(answer.Origins, policy)
	}
	return answer, nil
}

// status returns the state of a policy, without its text.
func (p *policyOf) status(now time.Time) status.Origin {
	policy := p.Rules
	s := status.Origin{
		ID: p.id, Matcher: p.handler.Route.Matcher(), Mode: p.handler.mode(), Source: p.handler.SourceKind(), Location: plainLocation(p.handler.Source),
		Dialect: cmp.Or(p.handler.Dialect, robots.RFC9309.String()), State: policy.Outcome().String(), LastRead: p.Last.String(),
		ReadAt: timeOf(p.Good), CheckedAt: timeOf(p.Began), NextRead: timeOf(p.Next), Failing: timeOf(p.Failing), Failures: p.Failures,
		Kept: p.Kept, DeniesAll: policy.DeniesAll(), Octets: policy.Size(), Groups: policy.GroupCount(), Rules: policy.RuleCount(),
		Published: policy.Published(), Notes: []status.Note{}, Grace: []status.Grace{},
		Unenforceable: first(policy.Unenforceable()), Ignored: first(policy.Ignored()),
	}
	if !p.shared {
		s.Origin = p.Origin.String()
	}
	for i := range p.Earlier {
		v := &p.Earlier[i]
		s.Grace = append(s.Grace, status.Grace{
			Crawler: policy.Grace().String(), Version: v.Tag(), State: v.Rules().Outcome().String(), Status: v.Rules().Status(),
			Replaced: v.Until().UTC(), Until: v.Ends().UTC(),
		})
	}
	if p.handler.Policy != nil {
		s.Hidden = len(p.handler.Policy.Hidden)
	}
	if p.Err != nil {
		s.Error = plainError(p.Err)
	}
	if err := policy.MergeError(); err != nil {
		s.MergeError = plainError(err)
	}
	if m := managed.MergedIn(policy); m != nil {
		for _, n := range first(m.Notes) {
			s.Notes = append(s.Notes, status.Note{
				Text: n.Text(), Crawlers: slices.Clone(n.Crawlers[:min(len(n.Crawlers), metrics.MaxFindings)]), Of: len(n.Crawlers),
				Detail: metrics.Clip(n.Detail), SiteLine: n.SiteLine, Line: n.Line,
			})
		}
	}
	problem := p.problem(now)
	s.OK, s.Message, s.Advice = problem.Severity == "", problem.Message, problem.Advice
	return s
}

// first returns the first maxShown elements of a list, never nil.
func first[T any](list []T) []T {
	return append([]T{}, list[:min(len(list), maxShown)]...)
}

// plainLocation returns the path or URL of a source, without credentials and
// query; "" for other sources.
func plainLocation(s *config.Source) string {
	location := s.Location()
	if s != nil && s.Kind == config.SourceURL {
		return plainURL(location)
	}
	return location
}

// plainURL returns a URL without credentials, query and fragment. It returns ""
// if raw is not a URL.
func plainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.ForceQuery = nil, "", "", false
	return u.String()
}

// plainError returns the text of an error, with credentials and queries removed
// from the URLs in it.
func plainError(err error) string {
	if err == nil {
		return ""
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // it does not contain the URL
	}
	words := strings.Split(metrics.Clip(err.Error()), " ")
	for i, word := range words {
		if strings.Contains(word, "://") {
			bare := strings.Trim(word, "\"',;:()")
			words[i] = strings.Replace(word, bare, plainURL(bare), 1)
		}
	}
	return strings.Join(words, " ")
}

// subject returns the name of a policy for messages: its host, sites or location.
func (p *policyOf) subject() string {
	switch {
	case !p.shared:
		return p.Origin.Host
	case p.handler.SourceKind() == config.SourceInline:
		return strings.Join(p.sites, ", ")
	}
	return plainLocation(p.handler.Source)
}

// countsOf returns the counts of the lines of a policy, summed over its origins.
func (p *policyOf) countsOf(all []counters.LineCount) map[counters.LineID]counters.LineCount {
	found := make(map[counters.LineID]counters.LineCount)
	for _, n := range all {
		if n.Source != p.handler.sourceID || !p.has(n.Origin) {
			continue
		}
		if sum, ok := found[n.ID]; ok {
			n = add(sum, n)
		}
		found[n.ID] = n
	}
	return found
}

// has reports whether the policy applies to an origin.
func (p *policyOf) has(origin enforce.Origin) bool {
	if p.shared {
		return p.handler.Serves(origin.Host)
	}
	return origin == p.Origin
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

// lines returns the lines of a policy's text that decided on requests, and those
// that the managed policy added.
func (p *policyOf) lines(counts map[counters.LineID]counters.LineCount) []status.TextLine {
	found := make(map[int]*status.TextLine)
	line := func(number int) *status.TextLine {
		if found[number] == nil {
			layer, at := p.Rules.Origin(number)
			found[number] = &status.TextLine{Number: number, Layer: layer.String(), At: at}
		}
		return found[number]
	}
	for _, g := range p.Rules.File().Groups() {
		for _, token := range g.Tokens() {
			for number, n := range p.countsIn(g, token, counts) {
				one := line(number)
				one.Counts = add(counters.LineCount{LineCounts: one.Counts}, n).LineCounts
			}
		}
	}
	if p.Rules.Published() {
		for i := range bytes.Count(p.Rules.Text(), []byte("\n")) + 1 {
			if layer, _ := p.Rules.Origin(i + 1); layer == enforce.PolicyLayer {
				line(i + 1)
			}
		}
	}
	list := make([]status.TextLine, 0, len(found))
	for _, one := range found {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b status.TextLine) int { return a.Number - b.Number })
	return list
}

// countsIn returns the counts of the lines of a group for one of its tokens, by
// line number in the text.
func (p *policyOf) countsIn(g *robots.Group, token string, counts map[counters.LineID]counters.LineCount) map[int]counters.LineCount {
	found := make(map[int]counters.LineCount)
	id := func(number int, allow bool, pattern string, reason enforce.Reason) counters.LineID {
		layer, _ := p.Rules.Origin(number)
		return counters.NewLineID(p.handler.sourceID, layer, token, allow, pattern, reason, 0)
	}
	for _, rule := range g.Rules() {
		if n, ok := counts[id(rule.Line, rule.Allow, rule.Pattern, 0)]; ok {
			found[rule.Line] = n
		}
	}
	pace := func(reason enforce.Reason, numbers ...int) {
		for i, number := range numbers {
			n, ok := counts[id(number, false, "", reason)]
			if _, at := p.Rules.Origin(number); ok && (at == n.Number || i == len(numbers)-1) {
				found[number] = n
				return
			}
		}
	}
	if delay, ok := g.CrawlDelay(); ok {
		pace(enforce.CrawlDelay, delay.Line)
	}
	var rates, visits []int
	for _, rate := range g.RequestRates() {
		rates = append(rates, rate.Line)
	}
	for _, visit := range g.VisitTimes() {
		visits = append(visits, visit.Line)
	}
	pace(enforce.RequestRate, rates...)
	pace(enforce.VisitTime, visits...)
	return found
}

// hasLine reports whether the file of a policy has the line that n counts. It
// returns true for a hidden path, which is in no file.
func (p *policyOf) hasLine(n *counters.LineCount) bool {
	if n.Layer == enforce.HiddenLayer {
		return true
	}
	group := p.Rules.File().Star()
	if n.Group != "*" {
		group = p.Rules.File().Named(n.Group)
	}
	return group != nil && len(p.countsIn(group, n.Group, map[counters.LineID]counters.LineCount{n.ID: *n})) > 0
}

// findingsCache caches the findings of the linter, which takes a tenth of a second
// for the largest files.
type findingsCache struct {
	mu    sync.Mutex
	known map[lintedFile][]status.Finding
}

// lintedFile holds everything that the findings of a file depend on.
type lintedFile struct {
	etag     string
	registry *crawler.Registry
}

// maxLinted is the largest number of files in findingsCache.
const maxLinted = 64

// of returns the findings in a policy's file.
func (c *findingsCache) of(p *enforce.Rules, registry *crawler.Registry) []status.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	file := lintedFile{p.ETag(), registry}
	if list, ok := c.known[file]; ok {
		return list
	}
	list := []status.Finding{}
	for _, f := range first(lint.Lint(p.File(), findings.Crawlers(registry))) {
		list = append(list, status.Finding{
			Line: f.Line, Column: f.Column, Severity: f.Severity.String(), Code: f.Code, Text: f.Text, Message: f.Message,
		})
	}
	if c.known == nil || len(c.known) >= maxLinted {
		c.known = make(map[lintedFile][]status.Finding)
	}
	c.known[file] = list
	return list
}
