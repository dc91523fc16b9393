package counters

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// maxName is the maximum length of a name that a client sent, in octets. The rest
// is ignored.
const maxName = 64

// Crawler counts the decisions about one crawler at one site.
type Crawler struct {
	site     *Site
	name     string
	class    crawler.Class
	known    bool // the registry has it
	other    bool // all crawlers of the class that have no counters of their own
	operator string
	purposes []crawler.Purpose

	decided byOutcome[tally]
	claims  [measures - verified]atomic.Uint64 // of the measures from verified on
	run     run

	// Guarded by Counters.mu:
	past [measures]history
	last minute // of the last request
}

// tally counts decisions with one outcome.
type tally struct {
	n      atomic.Uint64
	folded uint64 // the part of n that is in the reasons of the site; guarded by Counters.mu
}

// totals returns the total counts, by measure.
func (c *Crawler) totals() (t [measures]uint64) {
	for o, decided := range c.decided.all() {
		n := decided.n.Load()
		t[requests] += n
		if m := o.measure(); m != requests {
			t[m] += n
		}
	}
	for i := range c.claims {
		t[int(verified)+i] = c.claims[i].Load()
	}
	return t
}

// countClaim counts what is known about the identity of the client, and whether the
// request was refused.
func (c *Crawler) countClaim(d *judge.Decision) {
	add := func(m measure) { c.claims[m-verified].Add(1) }
	if m := claimMeasures[d.Claim.State]; m != requests {
		add(m)
	}
	switch {
	case !c.known || d.Action == judge.Pass || d.Monitored || d.Reason == judge.Impostor || isPacedByName(d):
	case d.Claim.State == verify.Verified:
		add(verifiedRefused)
	default:
		add(claimsRefused)
	}
}

// claimMeasures are the measures of the results of verification.
var claimMeasures = [...]measure{verify.Verified: verified, verify.Unverified: unverified, verify.Impostor: impostors}

// nameOf returns the name of a crawler in the counters: the name in the registry,
// or the token that the client sent.
func nameOf(a *crawler.Agent) string {
	if a.Crawler != nil {
		return a.Crawler.Name
	}
	return a.Token[:min(len(a.Token), maxName)]
}

// crawler returns the counters of a crawler. If there is no room for its name, it
// returns those of its class.
func (s *Site) crawler(a *crawler.Agent) *Crawler {
	name, known := nameOf(a), a.Crawler != nil
	if name == "" { // an empty User-Agent, or a suspect
		return s.class(a.SentClass())
	}
	if c := s.named(name, known, func() *Crawler { return newCrawler(s, name, a) }); c != nil {
		return c
	}
	return s.class(a.SentClass())
}

// named returns the counters of the crawler with a name, nil if there is no room. If
// there are none, it adds those that create returns.
func (s *Site) named(name string, known bool, create func() *Crawler) *Crawler {
	hash := s.counters.hashName(name, known) ^ s.salt
	is := func(c *Crawler) bool {
		return c.site == s && c.known == known && (c.name == name || !known && strings.EqualFold(c.name, name))
	}
	if c := s.counters.crawlers.find(hash, is); c != nil {
		return c
	}
	of := configured
	switch {
	case !known:
		of = invented
	case s.pattern != nil:
		of = ofHost
	}
	if s.pattern != nil && (!s.counters.crawlers.hasRoom(of) || !s.counters.takeRoom(crawlerSize)) {
		return nil
	}
	return s.counters.crawlers.add(hash, of, is, create)
}

// newCrawler returns counters for a crawler. All are 0.
func newCrawler(s *Site, name string, a *crawler.Agent) *Crawler {
	c := &Crawler{site: s, name: strings.Clone(name), class: a.SentClass()}
	if a.Crawler != nil {
		c.known, c.operator, c.purposes = true, a.Crawler.Operator, a.Crawler.Purposes
	}
	return c
}

// class returns the counters for the crawlers of a class that have none of their
// own.
func (s *Site) class(class crawler.Class) *Crawler {
	at := &s.classes[min(int(class), classes-1)]
	if c := at.Load(); c != nil {
		return c
	}
	if s.pattern != nil && !s.counters.takeRoom(crawlerSize) {
		return s.pattern.class(class)
	}
	at.CompareAndSwap(nil, &Crawler{site: s, name: class.String(), class: class, other: true})
	return at.Load()
}

// hashName returns the hash of a name. It ignores the case of a name that a client
// sent.
func (c *Counters) hashName(name string, known bool) uint64 {
	if known {
		return maphash.String(c.seed, name)
	}
	var lower [maxName]byte
	for i := range len(name) {
		b := name[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return maphash.Bytes(c.seed, lower[:len(name)])
}
