package robots

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// lintBlock is a group as it stands in the file: User-agent lines and what is
// below them.
type lintBlock struct {
	agents []*Line // its User-agent lines
	body   []*Line
	ruled  bool // has an Allow or Disallow line, be it empty
}

// blocks returns the groups as they stand in the file.
func (l *linter) blocks() []lintBlock {
	var list []lintBlock
	reading := false
	for i := range l.lines {
		line := &l.lines[i]
		switch line.Directive {
		case DirectiveNone, DirectiveUnknown:
			continue
		case DirectiveUserAgent:
			if !reading {
				list = append(list, lintBlock{})
				reading = true
			}
			b := &list[len(list)-1]
			b.agents = append(b.agents, line)
			continue
		}
		if len(list) == 0 {
			continue
		}
		b := &list[len(list)-1]
		b.body = append(b.body, line)
		if line.Directive == DirectiveAllow || line.Directive == DirectiveDisallow {
			reading = false
			b.ruled = true
		}
	}
	return list
}

// checkGroups looks at which crawlers the groups are for.
func (l *linter) checkGroups() {
	blocks := l.blocks()
	ruled := map[string]bool{}
	first := map[string]*Line{}
	for i := range blocks {
		b := &blocks[i]
		seen := map[string]bool{}
		for _, line := range b.agents {
			token := canonical.Lower(ProductToken(line.Value))
			ruled[token] = ruled[token] || b.ruled
			if before, ok := first[token]; ok && token != "" && !seen[token] {
				f := l.onValue("split-group", line, "line %d begins a group for it too", before.Number)
				f.Related = before.Number
				l.add(f)
			} else if !ok {
				first[token] = line
			}
			seen[token] = true
			if r, ok := readers[token]; ok {
				l.checkReader(b, line, r)
			}
		}
	}
	for i := range blocks {
		line := blocks[i].agents[0]
		token := canonical.Lower(ProductToken(line.Value))
		if token != "" && !ruled[token] {
			l.add(l.onValue("group-without-rules", line, "%s is allowed everything", line.Value))
			ruled[token] = true
		}
	}
	l.checkDelays()
	l.checkEngines()
}

// checkReader reports the first line of each kind in a group that one of its
// crawlers does not read.
func (l *linter) checkReader(b *lintBlock, agent *Line, r reader) {
	for _, line := range b.body {
		v := line.Value
		rule := line.Directive == DirectiveAllow || line.Directive == DirectiveDisallow
		var f *Finding
		switch {
		case rule && r.noWildcards && v != "*" && (strings.Contains(v, "*") || strings.HasSuffix(v, "$")):
			f = l.onValue("wildcard-unread", line, "to %s this is a path like others", agent.Value)
			r.noWildcards = false
		case line.Directive == DirectiveAllow && r.noAllow && v != "":
			f = l.onValue("allow-unread", line, "%s does not read Allow lines", agent.Value)
			r.noAllow = false
		case line.Directive == DirectiveCrawlDelay && r.noDelay:
			f = l.onValue("crawl-delay-unread", line, "%s does not read it", agent.Value)
			r.noDelay = false
		default:
			continue
		}
		f.Related = agent.Number
		l.add(f)
	}
}

// maxJoined bounds how many lines of groups that are joined from several
// places are looked through.
const maxJoined = 100_000

// checkDelays reports groups with several Crawl-delay lines of different
// values.
func (l *linter) checkDelays() {
	left := maxJoined
	for _, g := range l.file.Groups() {
		for _, u := range g.units {
			left -= len(u.fields)
		}
		if left < 0 {
			return
		}
		enforced, ok := g.CrawlDelay()
		if !ok {
			continue
		}
		for _, fd := range g.Fields() {
			if d, ok := parseCrawlDelay(fd.Value); fd.Directive == DirectiveCrawlDelay && ok && d != enforced.Delay {
				f := l.onValue("several-crawl-delays", &l.lines[fd.Line-1], "line %d has %v for %s", enforced.Line, enforced.Delay, g.Token())
				f.Related = enforced.Line
				l.add(f)
			}
		}
	}
}

// checkEngines reports the rules that shut search engines out of all.
func (l *linter) checkEngines() {
	shut := map[int][]string{}
	for _, tokens := range l.engines {
		g := l.file.Group(tokens...)
		root, other := g.Match("/"), g.Match("/"+pattern.Anything)
		if !root.Allowed && !other.Allowed && root.Line() == other.Line() {
			shut[root.Line()] = append(shut[root.Line()], tokens[0])
		}
	}
	for number, engines := range shut {
		slices.Sort(engines)
		l.add(l.onValue("search-engine-shut-out", &l.lines[number-1], "nothing is allowed to %s", strings.Join(engines, ", ")))
	}
}
