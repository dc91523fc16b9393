package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Crawler is what one crawler did. A request whose User-Agent names several crawlers
// counts for the one whose rules decided.
type Crawler struct {
	// Name is the name in the registry, or the product token as the crawler sent it.
	// It is "" for requests without a User-Agent.
	Name string `json:"name"`
	// Class is the String of a crawler.Class: crawler, named, self-declared,
	// user-triggered, scraper, webhook, program or library.
	Class    string   `json:"class"`
	Purposes []string `json:"purposes"` // the main one first
	Operator string   `json:"operator"` // "" if not known
	Known    bool     `json:"known"`    // it is in the registry
	// Rest is true for the row with all crawlers of the Class that have no row of
	// their own.
	Rest bool `json:"rest,omitempty"`

	Requests int64   `json:"requests"`
	Bytes    int64   `json:"bytes"`   // octets of the responses
	Seconds  float64 `json:"seconds"` // that they took; 0 if the log has no durations
	// Addresses is the number of different client addresses.
	Addresses int64 `json:"addresses"`
	// Denied is the number of requests that would have got 403 or 404. Throttled is
	// the number of those that would have got 429.
	Denied    int64 `json:"denied"`
	Throttled int64 `json:"throttled"`
	// VerifiedRefused is the number of these from the crawler's own addresses, and
	// ClaimsRefused from clients that only claim to be a crawler of the registry.
	// Impostors are in neither, nor what the pace of a group refused that names the
	// crawler.
	VerifiedRefused int64 `json:"verified_refused"`
	ClaimsRefused   int64 `json:"claims_refused"`
	// RobotsTxtReads is the number of requests for /robots.txt.
	RobotsTxtReads int64 `json:"robots_txt_reads"`
	// Verified is the number of requests from the crawler's own addresses, Impostor
	// from other addresses, and Unverified from addresses that could not be checked.
	// All are 0 if crawlers were not verified, or if the crawler's operator documents
	// no method.
	Verified   int64 `json:"verified"`
	Impostor   int64 `json:"impostor"`
	Unverified int64 `json:"unverified"`

	First *time.Time `json:"first"` // time of the first request; nil if no line has a time
	Last  *time.Time `json:"last"`
	// Statuses counts the responses of the server by class, most first: "1xx" to
	// "5xx", or "none" if the log has no valid status.
	Statuses []Count `json:"statuses"`
	// Group is the token of the group whose lines refused most of its requests, or
	// else that applied to most of them; "" if none did. GroupSource is the index in Report.Sources; -1 if none. GroupLine is
	// the line at which the group begins, counted as Rule.Line.
	Group       string `json:"group"`
	GroupSource int    `json:"group_source"`
	GroupLine   int    `json:"group_line"`
	// Reads are its requests for /robots.txt, in the order of the log, at most 200.
	// If there are more, one element stands for several with the same status that are
	// close together. Its Host is "" if they are for several hosts.
	Reads []RobotsTxtRead `json:"reads"`
	// Pace is the pace of the crawler and the limit for it; nil without a limit.
	Pace *Pace `json:"pace,omitempty"`
	// Refused has the first requests that would have been refused, at most 5.
	Refused []Example `json:"refused"`
}

// Limits for crawlers.
const (
	// maxUnlisted is the number of crawlers outside the registry that are counted
	// separately.
	maxUnlisted = 4096
	// maxRows is the number of these that have their own row in the report.
	maxRows = 200
	// maxRefused is the number of examples in the report, per crawler.
	maxRefused = 5
)

// crawlers counts what each crawler did. A crawler is listed if the registry has it.
type crawlers struct {
	listed   map[string]*crawlerTally // by the registry's name
	unlisted map[string]*crawlerTally // by the token in lower case
	rest     map[crawler.Class]*crawlerTally
	evicted  bool                         // the counts of unlisted crawlers may be too low
	merge    func(from, to *crawlerTally) // moves the counts at the rules
}

// crawlerTally counts what one crawler did.
type crawlerTally struct {
	Crawler
	class     crawler.Class
	agent     crawler.Agent    // of the first request
	row       *crawler.Crawler // nil for one that no registry has
	statuses  [6]int64
	period    span
	addresses distinct
	halfHours [3]halfHour // the one with most requests, and the last two
	groups    map[groupKey]*groupTally
	paces     map[groupKey]*paceTally
}

// groupKey identifies a group of a source.
type groupKey struct {
	source *source
	group  *robots.Group
}

// groupTally counts the requests that a group applied to, and those that its lines
// refused.
type groupTally struct{ applied, refused int64 }

// newCrawlerTally returns a tally for a crawler. row is nil for one that no registry
// has.
func newCrawlerTally(name string, class crawler.Class, row *crawler.Crawler) *crawlerTally {
	t := &crawlerTally{
		Crawler: Crawler{Name: name, Class: class.String(), Known: row != nil, GroupSource: -1, Statuses: []Count{}, Reads: []RobotsTxtRead{},
			Refused: []Example{}},
		class: class, row: row, addresses: distinct{precision: 12}, groups: make(map[groupKey]*groupTally),
	}
	if row != nil {
		t.Purposes, t.Operator = words.Strings(row.Purposes), row.Operator
	}
	return t
}

// of returns the tally of the crawler that sent a request.
func (c *crawlers) of(a *crawler.Agent) *crawlerTally {
	if a.Crawler != nil {
		return valueOf(&c.listed, a.Crawler.Name, func() *crawlerTally { return newCrawlerTally(a.Crawler.Name, a.SentClass(), a.Crawler) })
	}
	folded := strings.ToLower(a.Token)
	if t := c.unlisted[folded]; t != nil {
		return t
	}
	if len(c.unlisted) >= maxUnlisted {
		c.evicted = true
		c.moveToRest(maxUnlisted / 2)
	}
	return valueOf(&c.unlisted, strings.Clone(folded), func() *crawlerTally {
		return newCrawlerTally(strings.Clone(a.Token), a.SentClass(), nil)
	})
}

// moveToRest merges all unlisted crawlers but the most frequent ones into the rest of
// their class.
func (c *crawlers) moveToRest(keep int) {
	names := slices.SortedFunc(maps.Keys(c.unlisted), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.unlisted[b].Requests, c.unlisted[a].Requests), strings.Compare(a, b))
	})
	for _, name := range names[min(keep, len(names)):] {
		t := c.unlisted[name]
		delete(c.unlisted, name)
		rest := valueOf(&c.rest, t.class, func() *crawlerTally { return newCrawlerTally(otherName, t.class, nil) })
		rest.Rest = true
		rest.add(t)
		c.merge(t, rest)
	}
}

// counts returns the counts of requests and octets that add up.
func (t *crawlerTally) counts() []*int64 {
	return []*int64{&t.Requests, &t.Bytes, &t.Denied, &t.Throttled, &t.VerifiedRefused, &t.ClaimsRefused, &t.RobotsTxtReads,
		&t.Verified, &t.Impostor, &t.Unverified}
}

// add adds the counts of another crawler.
func (t *crawlerTally) add(o *crawlerTally) {
	from := o.counts()
	for i, n := range t.counts() {
		*n += *from[i]
	}
	t.Seconds += o.Seconds
	for i := range o.statuses {
		t.statuses[i] += o.statuses[i]
	}
	t.addresses.merge(&o.addresses)
	t.period.merge(o.period)
	t.Refused = append(t.Refused, o.Refused[:min(len(o.Refused), maxRefused-len(t.Refused))]...)
}

// count counts a request of a crawler, and returns the crawler's tally.
func (c *crawlers) count(e *logformat.Entry, v *judgement) *crawlerTally {
	d := &v.now
	t := c.of(&d.Agent)
	if t.Requests == 0 {
		t.agent = d.Agent
		t.agent.Token = strings.Clone(t.agent.Token)
	}
	t.Requests++
	t.Bytes += e.Bytes
	t.statuses[statusClass(e.Status)]++
	countIf(&t.Verified, d.Claim.State == claim.Verified)
	countIf(&t.Impostor, d.Claim.State == claim.Impostor)
	countIf(&t.Unverified, d.Claim.State == claim.Unverified)
	t.addresses.add(xxhash.Sum64String(e.Client))
	if e.Timed {
		t.period.add(e.At)
		t.atHalfHour(e.At).requests++
	}
	if d.Group != nil && v.source != nil {
		t.group(v).applied++
	}
	if judge.IsRobotsTxt(e.Target) {
		t.RobotsTxtReads++
		if e.Timed {
			t.read(e.Time(), v.host.Name, e.Status)
		}
	}
	return t
}

// group returns the tally of the group that applied to a request.
func (t *crawlerTally) group(v *judgement) *groupTally {
	return valueOf(&t.groups, groupKey{v.source, v.now.Group}, func() *groupTally { return new(groupTally) })
}

// countRefused counts a request that is refused.
func (t *crawlerTally) countRefused(v *judgement, m mask.Masker) {
	d := &v.now
	if d.Group != nil && (d.Rule.Line > 0 || d.Action == judge.Throttle) { // a hidden rule has no Rule
		t.group(v).refused++
	}
	countIf(&t.Denied, d.Action == judge.Deny)
	countIf(&t.Throttled, d.Action == judge.Throttle)
	if v.timed {
		t.atHalfHour(v.at).refused++
	}
	paced := d.Reason.Info().Field != ""
	if t.Known && d.Claim.State != claim.Impostor && !(paced && d.Group != d.Rules.File().Star()) {
		countIf(&t.VerifiedRefused, d.Claim.State == claim.Verified)
		countIf(&t.ClaimsRefused, d.Claim.State != claim.Verified)
	}
	if len(t.Refused) < maxRefused {
		t.Refused = append(t.Refused, v.example(m, v.source.verdict(d)))
	}
}

// all returns all tallies, most requests first. It first merges all unlisted crawlers
// but maxRows into the rest of their class.
func (c *crawlers) all() []*crawlerTally {
	c.moveToRest(maxRows)
	list := slices.Concat(slices.Collect(maps.Values(c.unlisted)), slices.Collect(maps.Values(c.listed)), slices.Collect(maps.Values(c.rest)))
	slices.SortFunc(list, func(a, b *crawlerTally) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name), cmp.Compare(a.class, b.class))
	})
	return list
}

// report adds the crawlers to the report.
func (c *crawlers) report(r *Report) {
	estimated, paced := false, false
	for _, t := range c.all() {
		row := t.report()
		r.Crawlers = append(r.Crawlers, row)
		_, estimate := t.addresses.count()
		estimated = estimated || estimate
		paced = paced || row.Pace != nil
	}
	r.estimate("crawlers[].addresses", estimated)
	r.estimate("crawlers[].pace.median_interval", paced)
	r.estimate("crawlers[].requests", c.evicted)
}

// CrawlersWith returns the crawlers that are suitable.
func (r *Report) CrawlersWith(suitable func(*Crawler) bool) (list []*Crawler) {
	for i := range r.Crawlers {
		if suitable(&r.Crawlers[i]) {
			list = append(list, &r.Crawlers[i])
		}
	}
	return list
}

// isSearch reports whether it is the crawler of a search engine.
func (t *crawlerTally) isSearch() bool { return t.row != nil && t.row.CountsAs(crawler.Search) }

// statusClasses are the names of the classes that crawlerTally.statuses counts.
var statusClasses = [6]string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"}

func statusClass(status int) int {
	if status < 100 || status > 599 {
		return 0
	}
	return status / 100
}

// report returns the row of the crawler in the report.
func (t *crawlerTally) report() Crawler {
	c := t.Crawler
	c.Addresses, _ = t.addresses.count()
	period := t.period.report()
	c.First, c.Last = period.From, period.To
	for i, n := range t.statuses {
		if n > 0 {
			c.Statuses = append(c.Statuses, Count{statusClasses[i], n})
		}
	}
	sortCounts(c.Statuses)
	var most groupTally
	for g, n := range t.groups {
		_, line := g.source.inForce.Origin(g.group.Line())
		if cmp.Or(cmp.Compare(n.refused, most.refused), cmp.Compare(n.applied, most.applied), cmp.Compare(c.GroupSource, g.source.index),
			cmp.Compare(c.GroupLine, line)) > 0 {
			most = *n
			c.Group, c.GroupSource, c.GroupLine = g.source.inForce.TokenOf(&t.agent, g.group), g.source.index, line
		}
	}
	c.Pace = t.pace()
	return c
}

// pace returns the Pace for the group that throttled most of the crawler's requests, or
// else that limited most of them; nil if none did.
func (t *crawlerTally) pace() *Pace {
	var most *Pace
	for _, p := range t.paces {
		r := p.report()
		if most == nil || cmp.Or(cmp.Compare(r.Throttled, most.Throttled), cmp.Compare(r.Requests, most.Requests),
			cmp.Compare(most.Source, r.Source), cmp.Compare(most.Line, r.Line)) > 0 {
			most = r
		}
	}
	return most
}

// RobotsTxtRead is one request for /robots.txt, or several that are close together.
type RobotsTxtRead struct {
	Time   time.Time `json:"time"`  // of the first
	Until  time.Time `json:"until"` // of the last
	Host   string    `json:"host"`
	Status int       `json:"status"` // 0 if the log does not have it
	Count  int64     `json:"count"`
}

// maxReads is the number of reads of robots.txt in the report, per crawler.
const maxReads = 200

// read records a request for robots.txt. When there are too many, those that are close
// together become one.
func (t *crawlerTally) read(at time.Time, host string, status int) {
	t.Reads = append(t.Reads, RobotsTxtRead{Time: at, Until: at, Host: host, Status: status, Count: 1})
	for part := time.Duration(32); part > 0 && len(t.Reads) > maxReads; part /= 2 {
		t.joinReads(part)
	}
	if n := len(t.Reads) - 1; n == maxReads { // so many different statuses
		t.Reads = t.Reads[:n]
		t.Reads[n-1].join(RobotsTxtRead{Until: at, Host: host, Count: 1})
	}
}

// joinReads merges reads with the same status within a part of the period of all reads.
func (t *crawlerTally) joinReads(part time.Duration) {
	step := t.Reads[len(t.Reads)-1].Until.Sub(t.Reads[0].Time).Abs() / part
	out := t.Reads[:0]
	for _, r := range t.Reads {
		i := len(out) - 1
		for i >= 0 && out[i].Status != r.Status {
			i--
		}
		if i < 0 || r.Until.Sub(out[i].Time).Abs() > step {
			out = append(out, r)
			continue
		}
		out[i].join(r)
	}
	t.Reads = out
}

// join adds another read to r.
func (r *RobotsTxtRead) join(o RobotsTxtRead) {
	r.Count += o.Count
	if o.Until.After(r.Until) {
		r.Until = o.Until
	}
	if r.Host != o.Host {
		r.Host = "" // several
	}
}
