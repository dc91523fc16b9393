package counters

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// row counts the requests of one crawler to one site or host about which the same was decided,
// by the same line. All that is shown is a sum of rows.
type row struct {
	crawler *Crawler
	key
	facts *Line // nil without a line

	n      atomic.Uint64
	number atomic.Int32 // of the line, when it last decided
	last   atomic.Int64 // when it last decided, in seconds since 1970

	// Guarded by Counters.mu:
	total uint64 // n at the last fold
	ring
	sum *row // counts the requests too: the same crawler at the pattern of a host, or its class, once the row is evicted
}

// key tells apart the rows of a crawler.
type key struct {
	outcome
	claim claim.State
	line  uint64 // a hash of the line and its origin; 0 for none
}

// outcome is the reason for a decision, and whether it is Monitored.
type outcome int32

func newOutcome(r judge.Reason, monitored bool) outcome {
	if monitored {
		return outcome(r)<<1 | 1
	}
	return outcome(r) << 1
}

func (o outcome) monitor() bool        { return o&1 != 0 }
func (o outcome) reason() judge.Reason { return judge.Reason(o >> 1) }
func (o outcome) action() judge.Action { return o.reason().Info().Action }

// Crawler is who sends requests to a site. That of the class crawler.Person stands for people
// and, where their requests were refused or would have been, strangers: both are in no sum of
// crawlers.
type Crawler struct {
	site     *Site
	name     string
	class    crawler.Class
	known    bool // the registry has it
	other    bool // all of the class that have no rows of their own
	operator string
	purposes []string

	run    run
	folder atomic.Pointer[string] // of a request
	streak atomic.Int32           // how many that were looked at before it had the same folder

	// Guarded by Counters.adding:
	id   string // in Site.crawlers: the same for all spellings of a name
	rows int    // that it has
}

// maxName is the maximum length of a name that a client sent, in octets. The rest
// is ignored.
const maxName = 64

// isPeople reports whether the row counts requests of people.
func (r *row) isPeople() bool { return r.crawler.class == crawler.Person && r.action() == judge.Pass }

// isStrangers reports whether the row counts requests of browsers that were refused or checked.
func (r *row) isStrangers() bool {
	return r.crawler.class == crawler.Person && r.action() != judge.Pass
}

// count counts a decision of a line with a number, 0 for none, and returns the count.
func (r *row) count(number int, seconds int64) uint64 {
	if n := int32(number); r.number.Load() != n {
		r.number.Store(n)
	}
	if r.last.Load() < seconds {
		r.last.Store(seconds)
	}
	return r.n.Add(1)
}

// row returns the row that counts a decision; facts say what its line is. Without room for it,
// that is the row of the class of the crawler, or that of the pattern of a host.
func (s *Site) row(a *crawler.Agent, k key, d *judge.Decision, r *Request) *row {
	if found := s.find(a, k); found != nil {
		return found
	}
	var facts *Line
	if k.line != 0 {
		facts = lineOf(d, r)
	}
	return s.add(a, k, facts)
}

// nameOf returns the name of a crawler in the counters: the name in the registry,
// or the token that the client sent.
func nameOf(a *crawler.Agent) (name string, known bool) {
	if a.Crawler != nil {
		return a.Crawler.Name, true
	}
	return a.Token[:min(len(a.Token), maxName)], false
}

func (s *Site) find(a *crawler.Agent, k key) *row {
	name, known := nameOf(a)
	class := a.SentClass()
	return s.counters.rows.find(s.hash(name, known, class, k), func(r *row) bool { return r.is(s, name, known, class, k) })
}

// is reports whether the row has a key. The name is "" for a class.
func (r *row) is(s *Site, name string, known bool, class crawler.Class, k key) bool {
	c := r.crawler
	return c.site == s && r.key == k && c.known == known &&
		(name == "" && c.other && c.class == class || !c.other && (c.name == name || !known && strings.EqualFold(c.name, name)))
}

// hash returns the hash of a row. It ignores the case of a name that a client sent.
func (s *Site) hash(name string, known bool, class crawler.Class, k key) uint64 {
	hash := s.salt ^ k.line ^ (uint64(k.outcome)<<16|uint64(k.claim)<<8|uint64(class))*0x9e3779b97f4a7c15
	if known {
		return hash ^ maphash.String(s.counters.seed, name)
	}
	var lower [maxName]byte
	for i := range len(name) {
		b := name[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		lower[i] = b
	}
	return hash ^ maphash.Bytes(s.counters.seed, lower[:len(name)])
}

// add adds the row that find did not find.
func (s *Site) add(a *crawler.Agent, k key, facts *Line) *row {
	name, known := nameOf(a)
	class := a.SentClass()
	all := key{outcome: k.outcome, claim: k.claim} // of all lines
	of := configured
	switch {
	case name != "" && !known:
		of = invented
	case s.pattern != nil:
		of = ofHost
	case name == "":
		of = always
	}
	var sum *row
	if s.pattern != nil {
		sum = s.pattern.find(a, all)
		if sum == nil {
			sum = s.pattern.add(a, all, nil)
		}
	}
	c := s.counters
	var added *row
	if c.rows.hasRoom(of) { // requests with invented names must not wait for each other
		c.adding.Lock()
		added = c.rows.add(s.hash(name, known, class, k), of, func(r *row) bool { return r.is(s, name, known, class, k) }, func(r *row) {
			r.crawler, r.key, r.facts, r.sum = s.crawler(a), k, facts, sum
			r.crawler.rows++
		})
		c.adding.Unlock()
	}
	switch {
	case added != nil:
		return added
	case of == ofHost:
		return sum
	}
	others := &crawler.Agent{Class: class}
	if found := s.find(others, all); found != nil {
		return found
	}
	return s.add(others, all, nil)
}

// crawler returns the Crawler for an agent, and adds it if there is none. The caller holds
// Counters.adding.
func (s *Site) crawler(a *crawler.Agent) *Crawler {
	name, known := nameOf(a)
	c := &Crawler{site: s, name: strings.Clone(name), class: a.SentClass(), known: known}
	switch {
	case known:
		c.id, c.operator, c.purposes = "known "+name, a.Crawler.Operator, words.Strings(a.Crawler.Purposes)
	case name == "":
		c.name, c.other = c.class.String(), true
		c.id = "class " + c.name
	default:
		c.id = "token " + strings.ToLower(name)
	}
	if found := s.crawlers[c.id]; found != nil {
		return found
	}
	s.crawlers[c.id] = c
	return c
}

// The folder of one in folderEvery requests of a row is looked at. maxFolder is in octets.
const (
	folderEvery = 16
	maxFolder   = 64
)

// noteFolder notes the folder of a request, the nth one of its row. As long as the
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

// isSearch reports whether the crawler is that of a search engine.
func (c *Crawler) isSearch() bool { return slices.Contains(c.purposes, string(crawler.Search)) }
