package counters

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Row counts the requests of one crawler to one site or host about which the same was decided,
// by the same line. All that is shown is a sum of rows, and a file has rows. Reasons, classes,
// states and layers have their names in it, which outlive a change of their numbers.
type Row struct {
	Site string `json:"site,omitempty"` // of the configuration; in files only
	Host string `json:"host,omitempty"` // that only a pattern names; likewise
	who
	outcome
	Line *Line `json:"line,omitempty"` // nil without one

	// Guarded by Counters.mu. They are those of the last fold.
	Number int32  `json:"number,omitempty"` // of the line, when it last decided
	Last   int64  `json:"last,omitempty"`   // when it last decided, in seconds since 1970
	Total  uint64 `json:"total"`
	Past   ring   `json:"past,omitzero"`
}

// who sends requests. Without a name it is all of a class that have no rows of their own. The
// class crawler.Person is people and, where their requests were refused or would have been,
// strangers: both are in no sum of crawlers.
type who struct {
	Crawler  string            `json:"crawler,omitempty"` // its name in the registry, or the token that it sent
	Class    crawler.Class     `json:"class"`
	Known    bool              `json:"known,omitempty"` // the registry has it
	Operator string            `json:"operator,omitempty"`
	Purposes []crawler.Purpose `json:"purposes,omitempty"`
}

// outcome is what was decided.
type outcome struct {
	Reason  judge.Reason `json:"reason"`
	Monitor bool         `json:"monitor,omitempty"`
	Claim   claim.State  `json:"claim"`
	Unmeant unmeant      `json:"unmeant,omitempty"`
}

// maxName is the maximum length of a name that a client sent, in octets. The rest
// is ignored.
const maxName = 64

func whoOf(a *crawler.Agent) who {
	if c := a.Crawler; c != nil {
		return who{Crawler: c.Name, Class: c.Class, Known: true, Operator: c.Operator, Purposes: c.Purposes}
	}
	return who{Crawler: a.Token[:min(len(a.Token), maxName)], Class: a.SentClass()}
}

// id is the same for all spellings of a name.
type id struct {
	name  string
	class crawler.Class
	known bool
}

func (w *who) id() id {
	if w.Known {
		return id{name: w.Crawler, known: true}
	}
	return id{name: strings.ToLower(w.Crawler), class: w.Class}
}

// name returns the name of the crawler, or of its class.
func (w *who) name() string { return cmp.Or(w.Crawler, w.Class.String()) }

// label returns the name of a crawler in the registry, or else of its class, so that the number of
// different labels is bounded.
func (w *who) label() string {
	if w.Known {
		return w.Crawler
	}
	return w.Class.String()
}

// isSearch reports whether the crawler is that of a search engine.
func (w *who) isSearch() bool { return slices.Contains(w.Purposes, crawler.Search) }

func (o *outcome) action() judge.Action { return o.Reason.Info().Action }

// servesPeople reports whether the row counts people, or clients that serve them and that no limit
// holds.
func (w *who) servesPeople() bool {
	switch w.Class {
	case crawler.Person, crawler.App, crawler.Webhook, crawler.Probe:
		return true
	}
	return false
}

// isUnboundProgram reports whether the row counts libraries or programs that no rule binds.
func (r *Row) isUnboundProgram() bool {
	return (r.Class == crawler.Library || r.Class == crawler.Program) && (r.Reason == judge.Unbound || r.Reason == judge.NoRules)
}

// isPeople reports whether the row counts requests of people.
func (r *Row) isPeople() bool { return r.Class == crawler.Person && r.action() == judge.Pass }

// isStrangers reports whether the row counts requests of browsers that were refused or checked.
func (r *Row) isStrangers() bool { return r.Class == crawler.Person && r.action() != judge.Pass }

// row is a Row and what requests change of it.
type row struct {
	Row
	site *Site
	hash uint64
	line uint64 // of the line at its origin; see LineID.at
	of   *limit
	next atomic.Pointer[row] // in the table
	sum  *row                // counts the requests too: the same crawler at the pattern of a host, or its class, once the row is evicted
	gone bool                // it is evicted; guarded by Counters.mu

	n      atomic.Uint64 // since the last fold
	number atomic.Int32
	last   atomic.Int64
	began  atomic.Int64           // see Run.Since
	folder atomic.Pointer[string] // of a request
	streak atomic.Int32           // how many that were looked at before it had the same folder
}

// hash returns the hash of a row.
func (s *Site) hash(w *who, o *outcome, line uint64) uint64 {
	bits := uint64(o.Reason)<<32 | uint64(o.Claim)<<24 | uint64(w.Class)<<16 | uint64(o.Unmeant)<<8
	if o.Monitor {
		bits |= 2
	}
	if w.Known {
		bits |= 1
	}
	return s.salt ^ line ^ (bits+1)*0x9e3779b97f4a7c15 ^ maphash.String(s.counters.seed, w.Crawler)
}

// add returns the row with these facts, and adds it if there is none. Without room, that
// is the row of the class of the crawler, or that of the pattern of a host.
func (s *Site) add(w who, o outcome, facts *Line) *row {
	line := uint64(0)
	if facts != nil {
		line = facts.ID.at(facts.Origin)
	}
	hash := s.hash(&w, &o, line)
	if found := s.counters.rows.find(hash); found != nil {
		return found
	}
	c := s.counters
	of := &c.named
	switch {
	case w.Crawler != "" && !w.Known:
		of = &c.invented
	case s.pattern != nil:
		of = &c.ofHosts
	case w.Crawler == "":
		of = &c.always
	}
	var sum *row
	if s.pattern != nil {
		sum = s.pattern.add(w, o, nil)
	}
	added := c.rows.add(hash, of, func(r *row) {
		r.site, r.who, r.outcome, r.Line, r.line, r.sum = s, w, o, facts, line, sum
		r.Crawler = strings.Clone(w.Crawler)
	})
	switch {
	case added != nil:
		return added
	case of == &c.ofHosts:
		return sum
	}
	return s.add(who{Class: w.Class}, o, nil)
}

// count counts a decision. As long as the folder of the requests stays the same, it
// allocates nothing.
func (r *row) count(d *judge.Decision, q *Request) {
	if n := int32(d.Line); r.number.Load() != n {
		r.number.Store(n)
	}
	seconds, last := q.Time.Unix(), r.last.Load()
	if r.Unmeant != 0 && seconds-last > pauseSeconds {
		r.began.Store(seconds)
	}
	if last < seconds {
		r.last.Store(seconds)
	}
	if r.n.Add(1)%folderEvery != 1 || d.Layer.Info().Secret {
		return
	}
	folder := folderOf(pathOf(q.Target))
	if old := r.folder.Load(); old != nil && *old == folder {
		r.streak.Add(1)
		return
	}
	r.folder.Store(new(strings.Clone(folder)))
	r.streak.Store(0)
}

// The folder of one in folderEvery requests of a row is looked at. maxFolder is in octets.
const (
	folderEvery = 16
	maxFolder   = 64
)

// folderOf returns the first folder of a path: /a/ of /a/b/c, and / for none, or if it is
// long.
func folderOf(path string) string {
	if end := strings.IndexByte(path[min(1, len(path)):], '/') + 2; end > 1 && end <= maxFolder && path[0] == '/' {
		return path[:end]
	}
	return "/"
}

// common returns the folder of the last requests, if they have it in common.
func (r *row) common() string {
	if folder := r.folder.Load(); folder != nil && r.streak.Load() >= 3 {
		return *folder
	}
	return "/"
}
