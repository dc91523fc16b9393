package audit

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Crawler is what one crawler did. A request whose User-Agent names several crawlers
// counts for the one whose rules decided.
type Crawler struct {
	// Name is the name in the registry, or the product token as the crawler sent it.
	// It is "" for requests without a User-Agent.
	Name string
	// Class is the String of a crawler.Class: crawler, named, self-declared,
	// user-triggered, scraper, webhook, program or library.
	Class    string
	Purposes []string // the main one first
	Known    bool     // it is in the registry
	// Rest is true for the row with all crawlers of the Class that have no row of
	// their own.
	Rest bool

	cost.Sum // of its requests
	// Addresses is the number of different client addresses.
	Addresses int64
	// Denied is the number of requests that would have got 403 or 404. Throttled is
	// the number of those that would have got 429.
	Denied    int64
	Throttled int64
	// VerifiedRefused is the number of these from the crawler's own addresses, and
	// ClaimsRefused from clients that only claim to be a crawler of the registry.
	// Impostors are in neither, nor what the pace of a group refused that names the
	// crawler.
	VerifiedRefused int64
	ClaimsRefused   int64
	// Verified is the number of requests from the crawler's own addresses, Impostor
	// from other addresses, and Unverified from addresses that could not be checked.
	// All are 0 if crawlers were not verified, or if the crawler's operator documents
	// no method.
	Verified   int64
	Impostor   int64
	Unverified int64

	// WorstHalfHour is the largest number of its requests in half an hour.
	WorstHalfHour int64
	// RobotsTxtReads is the number of requests for /robots.txt, Reads the period from the
	// first to the last of them, and Answers counts them by the status of the response.
	RobotsTxtReads int64
	Reads          Period
	Answers        []Count
	// Refused has the first requests that would have been refused, at most maxRefused.
	Refused []Request

	class       crawler.Class
	row         *crawler.Crawler // nil for one that no registry has
	answers     counter
	addresses   Distinct
	last, worst halfHour // the last one, and that with most requests
}

// halfHour counts the requests of a crawler in half an hour.
type halfHour struct{ start, requests int64 } // start in half hours since 1970

// Limits for crawlers.
const (
	// maxUnlisted is the number of crawlers outside the registry that are counted
	// separately: those that came first.
	maxUnlisted = 4096
	// maxRefused is the number of examples in the report, per crawler.
	maxRefused = 2
)

// crawlers counts what each crawler did. A crawler is listed if the registry has it.
type crawlers struct {
	listed   map[string]*Crawler // by the registry's name
	unlisted map[string]*Crawler // by the token in lower case
	rest     map[crawler.Class]*Crawler
}

// newCrawler returns a crawler without requests. row is nil for one that no registry has.
func newCrawler(name string, class crawler.Class, row *crawler.Crawler) *Crawler {
	t := &Crawler{Name: name, Class: class.String(), Known: row != nil, Purposes: []string{}, Refused: []Request{}, class: class, row: row,
		answers: make(counter)}
	if row != nil {
		t.Purposes = words.Strings(row.Purposes)
	}
	return t
}

// of returns the crawler that sent a request.
func (c *crawlers) of(a *crawler.Agent) *Crawler {
	if a.Crawler != nil {
		return valueOf(&c.listed, a.Crawler.Name, func() *Crawler { return newCrawler(a.Crawler.Name, a.SentClass(), a.Crawler) })
	}
	folded := strings.ToLower(a.Token)
	if t := c.unlisted[folded]; t != nil {
		return t
	}
	if len(c.unlisted) >= maxUnlisted {
		return c.restOf(a.SentClass())
	}
	return valueOf(&c.unlisted, strings.Clone(folded), func() *Crawler { return newCrawler(strings.Clone(a.Token), a.SentClass(), nil) })
}

// restOf returns the row for the crawlers of a class without a row of their own.
func (c *crawlers) restOf(class crawler.Class) *Crawler {
	rest := valueOf(&c.rest, class, func() *Crawler { return newCrawler(otherName, class, nil) })
	rest.Rest = true
	return rest
}

// Row returns its row of the registry; nil if it has none.
func (t *Crawler) Row() *crawler.Crawler { return t.row }

// isSearch reports whether it is the crawler of a search engine.
func (t *Crawler) isSearch() bool { return t.row != nil && t.row.CountsAs(crawler.Search) }

// count counts a request of a crawler, and returns the crawler.
func (c *crawlers) count(v *Judged) *Crawler {
	e := v.Entry
	t := c.of(&v.now().Agent)
	t.Add(v.Sum)
	t.addresses.Add(xxhash.Sum64String(e.Client))
	if e.Timed {
		t.countHalfHour(e.At / int64(30*time.Minute))
	}
	if judge.IsRobotsTxt(e.Target) {
		t.RobotsTxtReads++
		t.answers[strconv.Itoa(e.Status)]++
		if e.Timed {
			t.Reads.add(v.Time)
		}
	}
	return t
}

// countHalfHour counts a request in the half hour that begins with a number of half hours
// since 1970, or in the last one if that is later: logs are nearly in order.
func (t *Crawler) countHalfHour(start int64) {
	if start > t.last.start {
		t.last = halfHour{start: start}
	}
	t.last.requests++
	if t.last.requests > t.worst.requests {
		t.worst = t.last
	}
}

// report returns all crawlers, most requests first.
func (c *crawlers) report() []*Crawler {
	list := []*Crawler{}
	for _, some := range []iter.Seq[*Crawler]{maps.Values(c.unlisted), maps.Values(c.listed), maps.Values(c.rest)} {
		list = slices.AppendSeq(list, some)
	}
	slices.SortFunc(list, func(a, b *Crawler) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name), cmp.Compare(a.class, b.class))
	})
	for _, t := range list {
		t.Addresses = t.addresses.Count()
		t.Answers, t.WorstHalfHour = t.answers.top(maxNames), t.worst.requests
	}
	return list
}
