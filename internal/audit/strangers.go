package audit

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/browser"
	"github.com/caddy-robots/caddy-robots/internal/media"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/table"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Strangers says which pages lone addresses requested: those that send a browser's
// User-Agent, and had requested nothing but pages of the host 20 seconds after the page.
type Strangers struct {
	// Known is false if the log does not say which addresses are lone: it has no times or
	// few addresses, or fewer than half of the browsers fetch files from its hosts. Then
	// Paths is empty.
	Known bool `json:"known"`
	// Few is true if fewer than 10 versions of browsers read several pages of a host with
	// Paths, so that whether others' addresses are lone is hardly known.
	Few bool `json:"few,omitempty"`
	// Paths are those that lone addresses requested, with the most requests of these
	// first. Each request is in one of them, at most 50 for each of 4 hosts.
	Paths []StrangerPath `json:"paths"`
}

// StrangerPath counts the requests for pages with browsers' User-Agents.
type StrangerPath struct {
	Host    string `json:"host"`    // "" if the log has no hosts
	Pattern string `json:"pattern"` // as that of a cost.Row
	Pages   int64  `json:"pages"`
	Lone    int64  `json:"lone"` // of Pages, those of lone addresses
	// Octets and Seconds are what those of lone addresses cost.
	Octets  int64   `json:"octets"`
	Seconds float64 `json:"seconds"` // 0 if the log has no durations
}

const (
	lonelyFor   = int64(20 * time.Second) // as for challenge
	maxVisitors = 1 << 16
	maxWaiting  = 1 << 15
	readerPages = 2
	maxHosted   = 4 // hosts with Paths
	saidPaths   = 3 // in the finding
	// A path that lone addresses requested less often is not called theirs.
	lonelyRequests = 100
	// A User-Agent with embeddingPages pages that are not the first ones of an address says
	// whether browsers fetch files of the host: if more than half do. From embeddingAgents on,
	// it is certain.
	embeddingPages  = 2
	embeddingAgents = 10
	agentCells      = 1 << 12
)

// visitor is what is remembered of an address at a host.
type visitor struct {
	seen   int64 // when it came last
	pages  uint8 // at most readerPages
	others bool  // it requested something else than pages
}

func (v *visitor) lastSeen() int64 { return v.seen }

// stranger is a request for a page with a browser's User-Agent.
type stranger struct {
	cost.Sum
	host   *Host
	key    uint64 // of its visitor
	at     int64
	target string
	lone   bool // the request itself may be that of a lone address
}

// hostPages is what is counted of the pages of a host.
type hostPages struct {
	paths *cost.Tree
	// agents are the User-Agents of browsers, by hash: those with the same one count as one.
	agents [agentCells]struct {
		read  uint8 // pages of addresses that had requested others, at most embeddingPages
		files bool  // it fetched files
	}
}

// strangers finds the pages of lone addresses.
type strangers struct {
	visitors *table.Table[visitor]
	waiting  []stranger // for lonelyFor, the oldest first
	clock    int64      // the latest time so far
	pages    int64
	coarse   int64 // requests whose time is not exact to a second
	settle   func(*stranger)
	hosts    map[*Host]*hostPages
	// readers are the User-Agents of browsers that read several pages, and fetched those of
	// them that fetched files; see fetches.
	readers, fetched int
}

func newStrangers() *strangers {
	s := &strangers{visitors: table.New[visitor](maxVisitors), hosts: make(map[*Host]*hostPages)}
	s.settle = s.addPath
	return s
}

// count counts a request of a person. reads is true if it is for a page, and the address
// has requested readerPages others of the host.
func (s *strangers) count(v *Judged, kind media.Kind) (reads bool) {
	e := v.entry
	s.clock = max(s.clock, e.At)
	s.release(s.clock - lonelyFor)
	if v.host.Rest || !e.Timed || e.Resolution > int64(time.Second) {
		addIf(&s.coarse, !v.host.Rest, 1)
		return false
	}
	key := clientHash(e.Client) ^ v.host.hash
	who := s.visitors.Get(key)
	if who == nil {
		who = s.visitors.Add(key, (*visitor).lastSeen, nil)
	}
	who.seen = e.At
	switch {
	case e.Prefetch:
		return false
	case kind != media.Page || e.Authorized || !v.Reads():
		who.others = true
		return false
	}
	if reads = who.pages == readerPages; !reads {
		who.pages++
	}
	s.pages++
	if target.IsFeed(e.Target) || v.now().Rules.Hides(e.Target) { // which must not be shown
		return reads
	}
	if len(s.waiting) == maxWaiting {
		s.release(s.waiting[0].at)
	}
	lone := !e.Cookie && (e.Dest != "" || !v.host.isElsewhere(e.Referer))
	target := strings.Clone(e.Target[:min(len(e.Target), 4*mask.MaxShown)])
	s.waiting = append(s.waiting, stranger{Sum: v.Sum, host: v.host, key: key, at: e.At, target: target, lone: lone})
	return reads
}

// release counts the pages until a time.
func (s *strangers) release(until int64) {
	for len(s.waiting) > 0 && s.waiting[0].at <= until {
		page := &s.waiting[0]
		who := s.visitors.Get(page.key)
		page.lone = page.lone && who != nil && !who.others // and not forgotten
		s.settle(page)
		s.waiting = s.waiting[1:]
	}
}

// clientHash returns a hash of what counts as one client.
func clientHash(client string) uint64 {
	if strings.IndexByte(client, ':') >= 0 {
		if addr, err := netip.ParseAddr(client); err == nil {
			b := netaddr.Client(addr).As16()
			return xxhash.Sum64(b[:])
		}
	}
	return xxhash.Sum64String(client)
}

// isElsewhere reports whether a Referer is a page of another site.
func (t *Host) isElsewhere(referer string) bool {
	return len(referer) > 1 && !strings.Contains(referer, t.Name)
}

// The clients in the tree of a host's pages. What a page costs there, as seconds, is 1 if a
// lone address requested it, else 0: so the names that are told apart are those of the
// pages that lone addresses want, and not those that everybody's pages have.
const (
	loneClient   = "lone"
	othersClient = "others"
	loneTime     = "time" // has the microseconds of loneClient as octets
)

// of returns the pages of a host; nil if there are too many hosts.
func (s *strangers) of(host *Host) *hostPages {
	if s.hosts[host] == nil && !host.Rest && len(s.hosts) < maxHosted {
		s.hosts[host] = &hostPages{paths: cost.New()}
	}
	return s.hosts[host]
}

// countAgent counts a request with exactly a browser's User-Agent. reads says that it is for a page,
// and that the address had requested other pages before: most that storm a site have not.
func (s *strangers) countAgent(v *Judged, kind media.Kind, reads bool) {
	pages := s.of(v.host)
	if pages == nil {
		return
	}
	agent := &pages.agents[xxhash.Sum64String(v.agent)%agentCells]
	agent.files = agent.files || kind == media.Embedded
	if reads && agent.read < embeddingPages {
		agent.read++
	}
}

// fetches reports whether most browsers that read several pages of a host fetch its files,
// so that an address that fetches none is lone. It is sure if enough browsers say so.
func (s *strangers) fetches(pages *hostPages) (most, sure bool) {
	all, with := 0, 0
	for i := range pages.agents {
		if agent := &pages.agents[i]; agent.read == embeddingPages {
			all++
			if agent.files {
				with++
			}
		}
	}
	s.readers, s.fetched = s.readers+all, s.fetched+with
	return 2*with > all || all == 0, 2*with > all && all >= embeddingAgents
}

// tooFew says why it is not certain which addresses are lone.
func (s *strangers) tooFew() string {
	what := "no browser read several pages in this log."
	if s.readers > 0 {
		what = fmt.Sprintf("only %s of browsers read several pages in this log, and %d fetched images, styles or scripts.",
			words.Plural(s.readers, "version", "versions"), s.fetched)
	}
	return "Too few to tell for certain: " + what +
		" Where people's browsers fetch images, styles and scripts from another host, addresses that requested nothing else may be people."
}

// addPath counts a page for the report.
func (s *strangers) addPath(p *stranger) {
	pages := s.of(p.host)
	if pages == nil {
		return
	}
	tree := pages.paths
	if !p.lone {
		tree.Add(othersClient, p.target, cost.Sum{Requests: p.Requests})
		return
	}
	tree.Add(loneClient, p.target, cost.Sum{Requests: p.Requests, Octets: p.Octets, Seconds: float64(p.Requests)})
	if p.Seconds > 0 {
		tree.Add(loneTime, p.target, cost.Sum{Octets: int64(p.Seconds * 1e6)})
	}
}

// report adds the strangers to a report. few says that the addresses are too few.
func (s *strangers) report(r *Report, few bool) {
	s.release(math.MaxInt64)
	for host, pages := range s.hosts {
		most, sure := s.fetches(pages)
		if few || !most || !sure && s.pages < lonelyRequests {
			continue
		}
		r.Strangers.Known = true
		r.Strangers.Few = r.Strangers.Few || !sure
		for _, row := range pages.paths.Rows(leastShare) {
			p := StrangerPath{Host: host.Name, Pattern: row.Pattern}
			for _, c := range row.Clients {
				switch c.Name {
				case loneClient:
					p.Lone, p.Octets = c.Requests, c.Octets
				case othersClient:
					p.Pages = c.Requests
				case loneTime:
					p.Seconds = float64(c.Octets) / 1e6
				}
			}
			if p.Pages += p.Lone; p.Lone > 0 {
				r.Strangers.Paths = append(r.Strangers.Paths, p)
			}
		}
	}
	sortMost(r.Strangers.Paths, func(p StrangerPath) (int64, string) { return p.Lone, p.Host + p.Pattern })
}

// IsLonely reports whether mostly lone addresses requested the path, and often: the report
// says so of such paths.
func (p StrangerPath) IsLonely() bool { return p.Lone >= lonelyRequests && 2*p.Lone > p.Pages }

// lonely returns sentences about the paths that mostly lone addresses requested.
func (r *Report) lonely() (list []string) {
	for _, p := range r.Strangers.Paths {
		if p.IsLonely() && len(list) < saidPaths {
			where := p.Pattern
			if len(r.Hosts) > 1 {
				where = p.Host + where
			}
			list = append(list, fmt.Sprintf("%s of %s for %s with browsers' User-Agents came from addresses that requested nothing else.",
				words.Count(p.Lone), requests(p.Pages), where))
		}
	}
	return list
}

// Watch is paths that may have been stormed.
type Watch struct {
	Patterns []string // in robots.txt syntax
	Over     int64    // pages of lone addresses in Window; more are a storm
	Window   time.Duration
}

// Storm says what `challenge` for some paths would have done with the requests of a log.
type Storm struct {
	Pages, Lone int64 // as in StrangerPath
	// Held are the pages of lone addresses in windows with more of them than Watch.Over, and
	// than of others. Addresses is the number of these addresses, and Others that of the
	// other addresses that requested pages there in these windows, which lasted for Time.
	Held              cost.Sum
	Time              time.Duration
	Addresses, Others int64

	group             *robots.Group
	window            int64 // the number of the current one
	addresses, others distinct
	now               stormWindow
}

// stormWindow counts the pages in one window.
type stormWindow struct {
	pages             int64
	lone              cost.Sum
	addresses, others distinct
}

// add counts a page.
func (s *Storm) add(w *Watch, p *stranger) {
	if n := p.at / int64(w.Window); n > s.window {
		s.end(w)
		s.window = n
	}
	m, who := &s.now, &s.now.others
	s.Pages, m.pages = s.Pages+1, m.pages+1
	if p.lone {
		s.Lone, who = s.Lone+1, &m.addresses
		m.lone.Add(p.Sum)
	}
	who.add(p.key)
}

// end ends the current window.
func (s *Storm) end(w *Watch) {
	if m := &s.now; m.lone.Requests > w.Over && 2*m.lone.Requests > m.pages {
		s.Time += w.Window
		s.Held.Add(m.lone)
		s.addresses.merge(&m.addresses)
		s.others.merge(&m.others)
	}
	s.now = stormWindow{}
}

// Storms reads the logs again, and returns a Storm for each Watch of the site with an index
// in o.Sites. The logs must not be such as can be read only once.
func Storms(ctx context.Context, o Options, index int, watches []Watch) ([]Storm, error) {
	storms := make([]Storm, len(watches))
	for i := range storms {
		storms[i].group = target.Group(watches[i].Patterns...)
	}
	s := newStrangers()
	s.settle = func(p *stranger) {
		for i := range storms {
			if target.Matches(storms[i].group, p.target) {
				storms[i].add(&watches[i], p)
			}
		}
	}
	err := Replay(ctx, o, index, o.Sites[index:index+1], func(v *Judged) {
		if v.now().Agent.Class == crawler.Person && browser.IsBrowser(v.agent) {
			s.count(v, kindOf(v.entry))
		}
	})
	s.release(math.MaxInt64)
	for i := range storms {
		s := &storms[i]
		s.end(&watches[i])
		s.Addresses = s.addresses.count()
		s.Others = s.others.count()
	}
	return storms, err
}
