package managed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Options say how a site's file is read. The zero value is the default.
type Options struct {
	// Dialect is the reading of the file.
	Dialect robots.Dialect
	// StarBinds reports whether the group of `*` binds a crawler that has no
	// group of its own. Where it does not, a crawler that the policy gives a
	// group does not take over the rules of `*`. Nil: it binds all but those
	// whose operators document that they ignore it.
	StarBinds func(*crawler.Crawler) bool
}

// Merged is a site's file with the lines of a policy.
type Merged struct {
	// Text is the whole file.
	Text []byte
	// Notes are the notes for the operator, by kind.
	Notes []Note

	origins []Origin // by line, from 1
}

// Origin returns where a line of the merged file comes from. Lines count from
// 1. For a line that does not exist it returns the zero Origin.
func (m *Merged) Origin(line int) Origin {
	if line < 1 || line > len(m.origins) {
		return Origin{}
	}
	return m.origins[line-1]
}

// Merge returns a site's own file with the lines of the policy. An empty file
// is one that the site does not have. Lines from an earlier merge are replaced.
//
// An error means that the site's file must stay as it is: it is too large, its
// lines from an earlier merge are damaged, or a crawler outside the policy
// would get other rules than before (a *ProofError).
func (l *Lines) Merge(file []byte, o Options) (*Merged, error) {
	if len(file) > robots.MaxSize {
		return nil, errTooLarge
	}
	own, err := readSite(file)
	if err != nil {
		return nil, err
	}
	m := merger{Lines: l, options: o, own: own, kept: own, written: map[string]bool{}, groups: map[string]*group{}, said: map[groupSaid]string{}}
	m.file = m.parse(own.text())
	m.targets()
	m.replace()
	m.preferences()
	for i := range m.list {
		m.write(&m.list[i])
	}
	text, origins := m.fallbacks()
	if len(text) > robots.MaxSize {
		return nil, errTooLarge
	}
	after := m.parse(text)
	if err := l.prove(m.file, after); err != nil {
		return nil, err
	}
	m.overruled(after)
	return &Merged{Text: text, Notes: m.notes.sorted(), origins: origins}, nil
}

// merger makes one merged file.
type merger struct {
	*Lines
	options Options
	own     *site        // the site's file
	file    *robots.File // the same, read
	kept    *site        // the same, with what the policy replaces as comments
	list    []target
	inside  map[*crawler.Crawler]bool
	written map[string]bool // tokens that a group is written for, in lower case
	order   []*group
	groups  map[string]*group // by what they say
	said    map[groupSaid]string
	notes   noted
}

// target is a crawler that the policy speaks to in this file.
type target struct {
	crawler *crawler.Crawler
	terms   terms
	base    *robots.Group // what the site's file says to it
	star    bool          // that is the group of `*`
	replace bool          // the site's file has a group for it
}

func (m *merger) parse(text []byte) *robots.File {
	return robots.Parse(text, robots.WithDialect(m.options.Dialect))
}

// targets finds whom the policy speaks to in this file.
func (m *merger) targets() {
	m.inside = map[*crawler.Crawler]bool{}
	for _, cv := range m.covers {
		if cv == nil {
			continue
		}
		t := target{crawler: cv.crawler, terms: cv.both}
		c := cv.crawler
		own, token := m.ownGroup(m.file, c)
		if own != nil {
			if t.terms = cv.named; !t.terms.said {
				m.notes.add(KeptGroup, c.Name, "User-agent: "+token, own.Line(), cv.both.line)
				continue
			}
			t.base, t.replace = own, true
		} else if t.base, t.star = obeyed(m.file, c); t.star && m.options.StarBinds != nil && !m.options.StarBinds(c) {
			t.base = nil
		}
		if !m.reachable(&t) {
			continue
		}
		m.inside[c] = true
		for _, other := range m.byFirst[lower(first(c))] {
			m.inside[other] = true
		}
		m.list = append(m.list, t)
	}
	// A group is known by its first token: one that arrives in no request says
	// less.
	slices.SortStableFunc(m.list, func(a, b target) int {
		return cmp.Compare(btoi(a.crawler.ControlOnly), btoi(b.crawler.ControlOnly))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// reachable reports whether a group can give a crawler the policy's rules.
func (m *merger) reachable(t *target) bool {
	c := t.crawler
	if t.terms.interval > 0 && c.CrawlDelay == crawler.No {
		m.notes.add(NoCrawlDelay, c.Name, "", 0, t.terms.delay)
		if t.terms.interval = 0; !t.terms.all && len(t.terms.paths) == 0 {
			return false
		}
	}
	if !nameable(first(c)) {
		m.notes.add(WithoutToken, c.Name, first(c), 0, t.terms.line)
		return false
	}
	if owner := m.owner(c); owner != c {
		if m.covers[owner.Index()] == nil {
			m.notes.add(SharedGroup, c.Name, owner.Name, 0, t.terms.line)
		}
		return false
	}
	return true
}

// replace makes comments of the groups that the policy replaces.
func (m *merger) replace() {
	removed := map[string]bool{}
	for _, t := range m.list {
		if t.replace {
			for _, token := range append([]string{first(t.crawler)}, t.crawler.Tokens()...) {
				removed[lower(token)] = true
			}
			m.notes.add(ReplacedGroup, t.crawler.Name, "", t.base.Line(), t.terms.line)
		}
	}
	if len(removed) > 0 {
		m.kept = m.own.replace(m.options.Dialect, func(token string) bool {
			return removed[lower(token)] || removed[lower(firstWord(token))]
		})
	}
}

// firstWord returns the first word of a product token, by which a file is
// searched where no line names the token whole.
func firstWord(token string) string {
	end := strings.IndexFunc(token, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if end < 0 {
		return token
	}
	return strings.TrimRight(token[:end], "-.")
}

// preferences repeats the groups of the site that may crawl, with what the
// policy prefers.
func (m *merger) preferences() {
	if len(m.policy.Signal)+len(m.policy.Usage) == 0 {
		return
	}
	kept := m.parse(m.kept.text())
	strong := map[string]bool{"*": true}
	for _, t := range kept.Tokens() {
		strong[t] = true
	}
	groups := kept.Groups()
	if kept.Star() == nil {
		groups = append(groups, nil)
	}
	for _, g := range groups {
		if !mayCrawl(g) {
			continue
		}
		agents := []string{"*"}
		if g != nil {
			agents = slices.DeleteFunc(slices.Clone(g.Tokens()), func(t string) bool { return !strong[t] })
		}
		b := body{dialect: m.options.Dialect}
		for _, key := range b.preferences(g, &m.policy) {
			m.notes.add(KeptPreference, agents[0], key, g.Line(), 0)
		}
		if !slices.ContainsFunc(b.entries, func(e entry) bool { return e.origin.Layer == Operator }) {
			continue
		}
		b.rules(g)
		b.close()
		b.pace(g, 0, 0)
		b.rest(g)
		m.put(b.entries, "the preferences of this site, with its own rules", agents...)
	}
}

// write makes the group of a target.
func (m *merger) write(t *target) {
	b := body{dialect: m.options.Dialect}
	if t.terms.all {
		b.add("Disallow: /", Operator, t.terms.line)
		m.put(b.entries, "", first(t.crawler))
		return
	}
	b.preferences(t.base, &m.policy)
	b.deny(t.terms.paths)
	b.rules(t.base)
	b.close()
	base := t.base
	if t.star && t.crawler.CrawlDelay == crawler.No {
		base = nil // its operator documents that it reads none
	}
	if b.pace(base, t.terms.interval, t.terms.delay) {
		d, _ := base.CrawlDelay()
		m.notes.add(LongerDelay, t.crawler.Name, "Crawl-delay: "+d.String(), d.Line, t.terms.delay)
	}
	b.rest(t.base)
	m.put(b.entries, "", first(t.crawler))
}

// put has a group for each set of lines, whichever crawlers they are for.
func (m *merger) put(entries []entry, why string, agents ...string) {
	g := &group{entries: entries, why: why}
	key := g.key()
	if same := m.groups[key]; same != nil {
		g = same
	} else {
		m.groups[key] = g
		m.order = append(m.order, g)
	}
	for _, a := range agents {
		g.agents = append(g.agents, a)
		m.written[lower(a)] = true
	}
}
