package counters

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// maxName is the maximum length of a name that a client sent, in octets. The rest
// is ignored.
const maxName = 64

// Crawler counts the decisions about one crawler at one site. That of the class
// crawler.Person counts strangers: browsers that were refused, or would have been. They are
// in no sum of crawlers, nor are they people.
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
	folder  atomic.Pointer[string] // of a request
	streak  atomic.Int32           // how many that were looked at before it had the same folder
	sum     *Crawler               // the same crawler at the pattern of a host, which has the counts of all its hosts; nil at a site

	next atomic.Pointer[Crawler] // in Site.named

	// Guarded by Counters.mu:
	past [measures]history
	last minute // of the last request
	gone bool   // it is evicted
}

// tally counts decisions with one outcome.
type tally struct {
	n      atomic.Uint64
	folded uint64 // the part of n that is in the reasons of the site; guarded by Counters.mu
}

// The folder of one in folderEvery requests with the same outcome is looked at. maxFolder is
// in octets.
const (
	folderEvery = 16
	maxFolder   = 64
)

// noteFolder notes the folder of a request, the nth one with its outcome. As long as the
// folder stays the same, it allocates nothing.
func (c *Crawler) noteFolder(n uint64, d *judge.Decision, target string) {
	if n%folderEvery != 0 || d.Layer.Info().Secret {
		return
	}
	folder := FolderOf(pathOf(target))
	if old := c.folder.Load(); old != nil && *old == folder {
		c.streak.Add(1)
	} else {
		c.folder.Store(new(strings.Clone(folder)))
		c.streak.Store(0)
	}
}

// FolderOf returns the first folder of a path: /a/ of /a/b/c, and / for none, or if it is
// long.
func FolderOf(path string) string {
	if end := strings.IndexByte(path[min(1, len(path)):], '/') + 2; end > 1 && end <= maxFolder && path[0] == '/' {
		return path[:end]
	}
	return "/"
}

// common returns the folder of the last requests, if they have it in common.
func (c *Crawler) common() string {
	if folder := c.folder.Load(); folder != nil && c.streak.Load() >= 3 {
		return *folder
	}
	return "/"
}

func (c *Crawler) isStranger() bool { return c.class == crawler.Person }

// strangers returns the counters of the strangers at the site, nil if there were none.
func (s *Site) strangers() *Crawler { return s.classes[crawler.Person].Load() }

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
	case !c.known || d.Action == judge.Pass || d.Reason == judge.Impostor || isPacedByName(d):
	case d.Monitored && d.Claim.State == claim.Verified:
		add(verifiedWould)
	case d.Monitored:
	case d.Claim.State == claim.Verified:
		add(verifiedRefused)
	default:
		add(claimsRefused)
	}
}

// claimMeasures are the measures of the results of verification.
var claimMeasures = [...]measure{claim.Verified: verified, claim.Unverified: unverified, claim.Impostor: impostors}

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
	if name == "" { // an empty User-Agent, or a stranger
		return s.class(a.SentClass())
	}
	hash, table := s.counters.hashName(name, known)^s.salt, s.counters.crawlers
	is := func(c *Crawler) bool {
		return c.site == s && c.known == known && (c.name == name || !known && strings.EqualFold(c.name, name))
	}
	if c := table.find(hash, is); c != nil {
		return c
	}
	of, sum := configured, (*Crawler)(nil)
	if s.pattern != nil {
		of, sum = ofHost, s.pattern.crawler(a)
	}
	if !known {
		of = invented
	}
	if s.pattern == nil || table.hasRoom(of) && s.counters.takeRoom(crawlerSize) {
		if c := table.add(hash, of, is, func() *Crawler {
			c := &Crawler{site: s, name: strings.Clone(name), class: a.SentClass(), known: known, sum: sum}
			if known {
				c.operator, c.purposes = a.Crawler.Operator, a.Crawler.Purposes
			}
			c.next.Store(s.named.Load())
			s.named.Store(c)
			return c
		}); c != nil {
			return c
		}
	}
	return s.class(a.SentClass())
}

// class returns the counters for the crawlers of a class that have none of their
// own.
func (s *Site) class(class crawler.Class) *Crawler {
	at := &s.classes[min(int(class), classes-1)]
	if c := at.Load(); c != nil {
		return c
	}
	sum := (*Crawler)(nil)
	if s.pattern != nil {
		if sum = s.pattern.class(class); !s.counters.takeRoom(crawlerSize) {
			return sum
		}
	}
	at.CompareAndSwap(nil, &Crawler{site: s, name: class.String(), class: class, other: true, sum: sum})
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
