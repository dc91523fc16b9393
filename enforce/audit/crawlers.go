package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Bounds of what is remembered of crawlers.
const (
	// maxUnlisted is how many names that no registry has are counted apart.
	maxUnlisted = 4096
	// maxRows is how many of them have a row of their own in the report.
	maxRows = 200
	// maxReads is how many reads of robots.txt are shown.
	maxReads = 200
	// maxRefused is how many examples are shown.
	maxRefused = 5
)

// crawlers counts what each crawler did.
type crawlers struct {
	listed   map[string]*crawlerTally       // by the registry's name
	unlisted map[unlistedName]*crawlerTally // as sent
	folded   map[unlistedName]*crawlerTally // in lower case
	rest     map[crawler.Class]*crawlerTally
	evicted  bool // counts of names that no registry has can be too low
	merge    func(from, to *crawlerTally)
}

type unlistedName struct {
	class crawler.Class
	token string
}

// crawlerTally is what one crawler did.
type crawlerTally struct {
	name     string
	class    crawler.Class
	row      *crawler.Crawler // nil for one that no registry has
	isRest   bool
	requests int64
	bytes    int64
	denied   int64
	slowed   int64
	robots   int64
	claims   [verify.Impostor + 1]int64
	statuses [6]int64
	first    int64
	last     int64
	timed    bool
	from     distinct
	groups   map[groupOf]int64
	reads    []RobotsTxtRead
	paces    map[groupOf]*paceTally
	examples []Example

	refusedWas int64 // by what is compared with
}

// groupOf is a group of a source.
type groupOf struct {
	source *source
	group  *robots.Group
}

func newCrawlers() *crawlers {
	return &crawlers{
		listed:   make(map[string]*crawlerTally),
		unlisted: make(map[unlistedName]*crawlerTally),
		folded:   make(map[unlistedName]*crawlerTally),
		rest:     make(map[crawler.Class]*crawlerTally),
	}
}

func newCrawlerTally(name string, class crawler.Class, row *crawler.Crawler) *crawlerTally {
	return &crawlerTally{name: name, class: class, row: row, from: distinct{precision: 12}, groups: make(map[groupOf]int64)}
}

// of returns the tally of an agent.
func (c *crawlers) of(a *crawler.Agent) *crawlerTally {
	if a.Crawler != nil {
		t := c.listed[a.Crawler.Name]
		if t == nil {
			t = newCrawlerTally(a.Crawler.Name, a.Class, a.Crawler)
			c.listed[a.Crawler.Name] = t
		}
		return t
	}
	key := unlistedName{a.Class, a.Token}
	if t := c.unlisted[key]; t != nil {
		return t
	}
	if len(c.unlisted) >= 2*maxUnlisted || len(c.folded) >= maxUnlisted {
		c.evict()
	}
	key.token = strings.Clone(a.Token)
	folded := unlistedName{a.Class, strings.ToLower(key.token)}
	t := c.folded[folded]
	if t == nil {
		t = newCrawlerTally(key.token, a.Class, nil)
		c.folded[folded] = t
	}
	c.unlisted[key] = t
	return t
}

// evict puts the half of the names that no registry has with the fewest requests
// into the rest of their class.
func (c *crawlers) evict() {
	list := make([]unlistedName, 0, len(c.folded))
	for key := range c.folded {
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b unlistedName) int {
		return cmp.Or(cmp.Compare(c.folded[a].requests, c.folded[b].requests), strings.Compare(a.token, b.token))
	})
	if len(list) >= maxUnlisted {
		c.evicted = true
		for _, key := range list[:len(list)/2] {
			c.giveUp(key)
		}
	}
	clear(c.unlisted)
	for key, t := range c.folded {
		c.unlisted[unlistedName{key.class, t.name}] = t
	}
}

// giveUp adds a crawler to the rest of its class.
func (c *crawlers) giveUp(key unlistedName) {
	t := c.folded[key]
	delete(c.folded, key)
	rest := c.rest[t.class]
	if rest == nil {
		rest = newCrawlerTally(otherName, t.class, nil)
		rest.isRest = true
		c.rest[t.class] = rest
	}
	rest.add(t)
	c.merge(t, rest)
}

// add adds what another crawler did.
func (t *crawlerTally) add(o *crawlerTally) {
	t.requests += o.requests
	t.bytes += o.bytes
	t.denied += o.denied
	t.slowed += o.slowed
	t.robots += o.robots
	t.refusedWas += o.refusedWas
	for i := range o.claims {
		t.claims[i] += o.claims[i]
	}
	for i := range o.statuses {
		t.statuses[i] += o.statuses[i]
	}
	t.from.merge(&o.from)
	if o.timed {
		t.seen(o.first)
		t.seen(o.last)
	}
	for _, e := range o.examples {
		if len(t.examples) < maxRefused {
			t.examples = append(t.examples, e)
		}
	}
}

// seen notes a time at which the crawler came.
func (t *crawlerTally) seen(at int64) {
	if !t.timed {
		t.first, t.last, t.timed = at, at, true
	}
	t.first, t.last = min(t.first, at), max(t.last, at)
}

// read notes a read of robots.txt. When there are too many, neighbours that had
// the same answer become one.
func (t *crawlerTally) read(at time.Time, host string, status int) {
	if n := len(t.reads); n == maxReads {
		t.joinReads()
		if n = len(t.reads); n == maxReads {
			last := &t.reads[n-1]
			last.Until = at
			last.Count++
			return
		}
	}
	t.reads = append(t.reads, RobotsTxtRead{Time: at, Until: at, Host: host, Status: status, Count: 1})
}

// joinReads makes one of each two neighbours that had the same answer.
func (t *crawlerTally) joinReads() {
	out := t.reads[:0]
	for i := 0; i < len(t.reads); i++ {
		r := t.reads[i]
		if i+1 < len(t.reads) && t.reads[i+1].Host == r.Host && t.reads[i+1].Status == r.Status {
			i++
			r.Until = t.reads[i].Until
			r.Count += t.reads[i].Count
		}
		out = append(out, r)
	}
	t.reads = out
}

// all returns all tallies, most requests first, names that no registry has
// beyond maxRows in the rest.
func (c *crawlers) all() []*crawlerTally {
	keys := make([]unlistedName, 0, len(c.folded))
	for key := range c.folded {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b unlistedName) int {
		return cmp.Or(cmp.Compare(c.folded[b].requests, c.folded[a].requests), strings.Compare(a.token, b.token))
	})
	for len(keys) > maxRows {
		c.giveUp(keys[len(keys)-1])
		keys = keys[:len(keys)-1]
	}
	var list []*crawlerTally
	for _, key := range keys {
		list = append(list, c.folded[key])
	}
	for _, t := range c.listed {
		list = append(list, t)
	}
	for _, t := range c.rest {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *crawlerTally) int {
		return cmp.Or(cmp.Compare(b.requests, a.requests), strings.Compare(a.name, b.name), cmp.Compare(a.class, b.class))
	})
	return list
}

// purpose returns what the registry says of it.
func (t *crawlerTally) purpose() string {
	if t.row == nil {
		return ""
	}
	return string(t.row.Purpose)
}

// isSearch reports whether it is a search engine's.
func (t *crawlerTally) isSearch() bool { return t.row != nil && t.row.Purpose == crawler.Search }

// classes of statuses, as statuses of a crawlerTally counts them.
var statusClasses = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

func statusClass(status int) int {
	if status < 100 || status > 599 {
		return 0
	}
	return status / 100
}

// report makes the row of the report.
func (t *crawlerTally) report() Crawler {
	c := Crawler{
		Name: t.name, Class: t.class.String(), Purpose: t.purpose(), Known: t.row != nil, Rest: t.isRest,
		Requests: t.requests, Bytes: t.bytes, Denied: t.denied, Throttled: t.slowed, RobotsTxtReads: t.robots,
		Verified: t.claims[verify.Verified], Impostor: t.claims[verify.Impostor], Unverified: t.claims[verify.Unverified],
		GroupSource: -1, Statuses: []Count{}, Reads: t.reads, Refused: t.examples,
	}
	c.Addresses, _ = t.from.count()
	if t.row != nil {
		c.Operator = t.row.Operator
	}
	if t.timed {
		first, last := time.Unix(0, t.first).UTC(), time.Unix(0, t.last).UTC()
		c.First, c.Last = &first, &last
	}
	for i, n := range t.statuses {
		if n > 0 {
			c.Statuses = append(c.Statuses, Count{statusClasses[i], n})
		}
	}
	sortCounts(c.Statuses)
	if c.Reads == nil {
		c.Reads = []RobotsTxtRead{}
	}
	if c.Refused == nil {
		c.Refused = []Example{}
	}
	most := int64(0)
	for g, n := range t.groups {
		if _, line := g.source.policy.Origin(g.group.Line()); n > most || n == most && (g.source.index < c.GroupSource || g.source.index == c.GroupSource && line < c.GroupLine) {
			most = n
			c.Group, c.GroupSource, c.GroupLine = g.group.Token(), g.source.index, line
		}
	}
	c.Pace = t.pace()
	return c
}

// sortCounts puts the most frequent first.
func sortCounts(list []Count) {
	slices.SortStableFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
}

// pace returns what limited the pace of most of its requests; nil where nothing
// did.
func (t *crawlerTally) pace() *Pace {
	var most *Pace
	for _, p := range t.paces {
		if r := p.report(); most == nil || r.Requests > most.Requests || r.Requests == most.Requests && (r.Source < most.Source || r.Source == most.Source && r.Line < most.Line) {
			most = r
		}
	}
	return most
}
