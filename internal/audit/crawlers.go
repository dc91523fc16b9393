package audit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
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

	cost.Sum // of its requests
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

	Period Period `json:"period"` // from its first to its last request
	// WorstHalfHour is the largest number of its requests in half an hour.
	WorstHalfHour int64 `json:"worst_half_hour"`
	// Reads is the period from its first to its last request for /robots.txt, and Answers
	// counts these by the status of the response, most first.
	Reads   Period  `json:"reads"`
	Answers []Count `json:"answers"`
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
	evicted  bool // the counts of unlisted crawlers may be too low
}

// crawlerTally counts what one crawler did.
type crawlerTally struct {
	Crawler
	class     crawler.Class
	row       *crawler.Crawler // nil for one that no registry has
	period    span
	reads     span    // of the requests for robots.txt
	answers   counter // to these, by status
	addresses distinct
	halfHours [3]halfHour // the one with most requests, and the last two
}

// newCrawlerTally returns a tally for a crawler. row is nil for one that no registry
// has.
func newCrawlerTally(name string, class crawler.Class, row *crawler.Crawler) *crawlerTally {
	t := &crawlerTally{
		Crawler: Crawler{Name: name, Class: class.String(), Known: row != nil, Refused: []Example{}},
		class:   class, row: row,
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
	}
}

// counts returns the counts of requests that add up.
func (t *crawlerTally) counts() []*int64 {
	return []*int64{&t.Denied, &t.Throttled, &t.VerifiedRefused, &t.ClaimsRefused, &t.RobotsTxtReads,
		&t.Verified, &t.Impostor, &t.Unverified}
}

// add adds the counts of another crawler.
func (t *crawlerTally) add(o *crawlerTally) {
	from := o.counts()
	for i, n := range t.counts() {
		*n += *from[i]
	}
	t.Add(o.Sum)
	for name, n := range o.answers.counts {
		*t.answers.of(name) += *n
	}
	t.reads.merge(o.reads)
	if worst := o.worst(); worst.requests > t.worst().requests {
		t.halfHours[0] = worst
	}
	t.addresses.merge(&o.addresses)
	t.period.merge(o.period)
	t.Refused = append(t.Refused, o.Refused[:min(len(o.Refused), maxRefused-len(t.Refused))]...)
}

// count counts a request of a crawler, and returns the crawler's tally.
func (c *crawlers) count(e *logformat.Entry, v *Judged) *crawlerTally {
	d := v.now()
	t := c.of(&d.Agent)
	t.Add(v.Sum)
	countIf(&t.Verified, d.Claim.State == claim.Verified)
	countIf(&t.Impostor, d.Claim.State == claim.Impostor)
	countIf(&t.Unverified, d.Claim.State == claim.Unverified)
	t.addresses.add(xxhash.Sum64String(e.Client))
	if e.Timed {
		t.period.add(e.At)
		t.atHalfHour(e.At).requests++
	}
	if judge.IsRobotsTxt(e.Target) {
		t.RobotsTxtReads++
		*t.answers.of(strconv.Itoa(e.Status))++
		if e.Timed {
			t.reads.add(e.At)
		}
	}
	return t
}

// countRefused counts a request that is refused.
func (t *crawlerTally) countRefused(v *Judged, m mask.Masker) {
	d := v.now()
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
		t.Refused = append(t.Refused, v.example(m, verdict.Of(&d.Decision).Verdict))
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
	for _, t := range c.all() {
		c := t.report()
		r.Crawlers = append(r.Crawlers, c)
		r.Estimated = r.Estimated || c.Addresses > exactHashes
	}
}

// isSearch reports whether it is the crawler of a search engine.
func (t *crawlerTally) isSearch() bool { return t.row != nil && t.row.CountsAs(crawler.Search) }

// report returns the row of the crawler in the report.
func (t *crawlerTally) report() Crawler {
	c := t.Crawler
	c.Addresses, _ = t.addresses.count()
	c.Period, c.Reads = t.period.report(), t.reads.report()
	c.Answers, c.WorstHalfHour = t.answers.top(maxNames), t.worst().requests
	return c
}
