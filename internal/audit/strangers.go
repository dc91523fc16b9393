package audit

import (
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/media"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Strangers says which pages lone addresses requested: those that send a browser's
// User-Agent, and had requested nothing but pages of the host 20 seconds after the page.
type Strangers struct {
	// Known is false if the log does not say which addresses are lone: it has no times or
	// few addresses, or fewer than half of the browsers fetch files from its hosts. Then
	// Paths is empty.
	Known bool
	// Few is true if fewer than 10 versions of browsers read several pages of a host with
	// Paths, and mostly lone addresses requested one of these, which is hardly known then.
	Few bool
	// Paths are those that lone addresses requested, with the most requests of these
	// first. Each request is in one of them, at most 50 for each of 4 hosts.
	Paths []StrangerPath
	// Asked says what lines such as challenge would have done.
	Asked []Asked
	// Fleet is the User-Agent that opened pages which others hardly want, about FleetPages; nil if none did.
	Fleet      *cost.Fleet
	FleetPages int64
	// Targets is a sample of the pages with a query.
	Targets []string
}

// Asked says what a line would have done that asks strangers to show that they are browsers.
type Asked struct {
	Line string
	// These pages of lone addresses would not have been answered.
	cost.Sum
	Addresses int64 // that requested them
	// Others is the number of other addresses that would have been asked.
	Others int64

	pages        int64 // of all addresses
	lone, others Distinct
}

func (t *Asked) add(p *Page) {
	t.pages++
	if !p.Lone {
		t.others.Add(p.Client)
		return
	}
	t.Add(p.Sum)
	t.lone.Add(p.Client)
}

// StrangerPath counts the requests for pages with browsers' User-Agents.
type StrangerPath struct {
	Host    string // "" if the log has no hosts
	Pattern string // as that of a cost.Row
	Pages   cost.Sum
	Lone    cost.Sum // of Pages, those of lone addresses

	isLate bool // some are not counted
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
	// If most of so many pages that came from others of the host are those of lone addresses, people's
	// browsers have the files in their caches.
	leastFollowing = 20
	agentCells     = 1 << 12
)

// visitor is what is remembered of an address at a host.
type visitor struct {
	seen   int64 // when it came last
	pages  uint8 // at most readerPages
	others bool  // it requested something else than pages
}

func (v *visitor) lastSeen() int64 { return v.seen }

// Page is a request for a page with a browser's User-Agent.
type Page struct {
	cost.Sum
	Target string
	Client uint64 // of its address and host, by hash
	Agent  uint64 // its User-Agent, by hash
	Lone   bool   // it is that of a lone address
	// Asked has a bit for each version of the rules and steps by which it would not have been
	// answered until the client shows that it is a browser.
	Asked uint64

	At int64 // in nanoseconds since 1970

	follows bool // it comes from another page of the host, and the address has read several: few robots do that
	host    *Host
	line    string // that asks; "" if none does
}

// hostPages is what is counted of the pages of a host.
type hostPages struct {
	paths *cost.Tree
	// follows are the pages that came from others of the host, and those of lone addresses.
	follows, lone int64
	isLate        bool // pages before it had room are not counted
	// agents are the User-Agents of browsers, by hash: those with the same one count as one.
	agents [agentCells]struct {
		read  uint8 // pages of addresses that had requested others, at most embeddingPages
		files bool  // it fetched files
	}
}

// strangers finds the pages of lone addresses.
type strangers struct {
	visitors       *table.Table[visitor]
	waiting        []Page // for lonelyFor, the oldest first
	clock          int64  // the latest time so far
	pages          int64
	visits         cost.Visits
	coarse         int64 // requests whose time is not exact to a second
	settle         func(*Page)
	hosts          map[*Host]*hostPages
	few, elsewhere readers           // of hosts with few of them, and of those where most fetch no files
	cached         readers           // pages that followed others, and those of lone addresses, where that is most
	asked          map[string]*Asked // by the line that asks
	dearest        StrangerPath      // that costs most
	isDoubtful     bool              // dearest is of a host where it is not known who is lone
}

func newStrangers() *strangers {
	s := &strangers{visitors: table.New[visitor](maxVisitors), hosts: make(map[*Host]*hostPages)}
	s.settle = s.addPath
	return s
}

// count counts a request of a person. reads is true if it is for a page, and the address
// has requested readerPages others of the host. agent is a hash of the User-Agent.
func (s *strangers) count(v *Judged, agent uint64, kind media.Kind) (reads bool) {
	at := v.Time.UnixNano()
	s.clock = max(s.clock, at)
	s.release(s.clock - lonelyFor)
	if v.host.Rest || !v.Entry.Timed || v.Entry.Resolution > int64(time.Second) {
		addIf(&s.coarse, !v.host.Rest, 1)
		return false
	}
	key := clientHash(v.Client) ^ v.host.hash
	who := s.visitors.Get(key)
	if who == nil {
		who = s.visitors.Add(key, (*visitor).lastSeen, nil)
	}
	who.seen = at
	switch {
	case v.Entry.Prefetch:
		return false
	case kind != media.Page || v.Authorized || !v.Reads():
		who.others = true
		return false
	}
	if reads = who.pages == readerPages; !reads {
		who.pages++
	}
	s.pages++
	if target.IsFeed(v.Target) || v.now().Rules.Hides(v.Target) { // which must not be shown
		return reads
	}
	s.visits.Add(v.Entry.UserAgent(), v.Target, key)
	if len(s.waiting) == maxWaiting {
		s.release(s.waiting[0].At)
	}
	page := Page{
		Sum: v.Sum, Target: strings.Clone(v.Target[:min(len(v.Target), 4*mask.MaxShown)]), Client: key, Agent: agent,
		Lone:    !who.others && !v.Entry.Cookie && (v.Entry.Dest != "" || !v.FromElsewhere()),
		follows: reads && len(v.Entry.Referer) > 1, host: v.host, At: at,
	}
	for i := range v.Rulings {
		if d := &v.Rulings[i]; d.Action == judge.Ask {
			page.Asked |= 1 << i
			page.line = d.RuleText()
		}
	}
	s.waiting = append(s.waiting, page)
	return reads
}

// release counts the pages until a time.
func (s *strangers) release(until int64) {
	for len(s.waiting) > 0 && s.waiting[0].At <= until {
		page := &s.waiting[0]
		if page.Lone {
			who := s.visitors.Get(page.Client)
			page.Lone = who != nil && !who.others // and not forgotten
		}
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

// The clients in the tree of a host's pages. What a page costs there, as seconds, is 1 if a
// lone address requested it, and hardly more than 0 else: so the names that are told apart are those
// of the pages that lone addresses want, and not those that everybody's pages have.
const (
	loneClient   = "lone"
	othersClient = "others"
	hardly       = 1e-6 // what a second is there
)

// of returns the pages of a host; nil if there are busier hosts and no room. A busy one takes the
// place of the one with the fewest requests.
func (s *strangers) of(host *Host) *hostPages {
	if s.hosts[host] != nil || host.Rest {
		return s.hosts[host]
	}
	isLate := len(s.hosts) == maxHosted
	if isLate {
		quiet := host
		for h := range s.hosts {
			if quiet == host || h.Requests < quiet.Requests {
				quiet = h
			}
		}
		if host.Requests <= 2*quiet.Requests {
			return nil
		}
		delete(s.hosts, quiet)
	}
	s.hosts[host] = &hostPages{paths: cost.New(), isLate: isLate}
	return s.hosts[host]
}

// countAgent counts a request with exactly a browser's User-Agent, by its hash. reads says that it is for a page,
// and that the address had requested other pages before: most that storm a site have not.
func (s *strangers) countAgent(host *Host, hash uint64, kind media.Kind, reads bool) {
	pages := s.of(host)
	if pages == nil {
		return
	}
	agent := &pages.agents[hash%agentCells]
	agent.files = agent.files || kind == media.Embedded
	if reads && agent.read < embeddingPages {
		agent.read++
	}
}

// readers counts the User-Agents of browsers that read several pages, and those of them that fetched
// files.
type readers struct{ all, with int }

// readers counts those of a host. If most fetch its files, an address that fetches none is lone.
func (p *hostPages) readers() (r readers) {
	for i := range p.agents {
		if agent := &p.agents[i]; agent.read == embeddingPages {
			r.all++
			if agent.files {
				r.with++
			}
		}
	}
	return r
}

func (r *readers) add(more readers) { r.all, r.with = r.all+more.all, r.with+more.with }

// addPath counts a page for the report.
func (s *strangers) addPath(p *Page) {
	if p.Asked&1 != 0 {
		valueOf(&s.asked, p.line, func() *Asked { return &Asked{Line: p.line} }).add(p)
	}
	pages := s.of(p.host)
	if pages == nil {
		return
	}
	tree := pages.paths
	if p.follows {
		pages.follows++
		addIf(&pages.lone, p.Lone, 1)
	}
	who, sum := othersClient, p.Sum
	sum.Seconds, sum.Untimed = sum.Seconds*hardly, 0
	if p.Lone {
		who = loneClient
		sum.Seconds += float64(p.Requests)
	}
	tree.Add(who, p.Target, sum)
}

// report adds the strangers to a report. few says that the addresses are too few.
func (s *strangers) report(r *Report, few bool) {
	s.release(math.MaxInt64)
	r.Strangers.Targets = s.visits.Queries()
	if fleet, pages := s.visits.Fleet(); pages >= lonelyRequests {
		r.Strangers.Fleet, r.Strangers.FleetPages = fleet, pages
	}
	for host, pages := range s.hosts {
		read := pages.readers()
		most, sure := 2*read.with > read.all || read.all == 0, read.all >= embeddingAgents
		cached := pages.follows >= leastFollowing && 2*pages.lone > pages.follows
		known := !few && most && !cached && (sure || s.pages >= lonelyRequests)
		r.Strangers.Known = r.Strangers.Known || known
		switch {
		case known && !sure:
			r.Strangers.Few = true
			s.few.add(read)
		case few:
		case !most:
			s.elsewhere.add(read)
		case cached:
			s.cached.add(readers{int(pages.follows), int(pages.lone)})
		}
		for _, row := range pages.paths.Rows(leastShare) {
			p := pagesOf(host, &row)
			p.isLate = pages.isLate
			if known && p.Lone.Requests > 0 {
				r.Strangers.Paths = append(r.Strangers.Paths, p)
			}
			isNamed := strings.Trim(p.Pattern, "/*") != "" // else it is the front page, or may be all pages
			if isNamed && p.Pages.Share(r.Costs.All) > s.dearest.Pages.Share(r.Costs.All) {
				s.dearest, s.isDoubtful = p, !few && !known
			}
		}
	}
	r.Strangers.Few = r.Strangers.Few && slices.ContainsFunc(r.Strangers.Paths, StrangerPath.IsLonely)
	for _, line := range slices.Sorted(maps.Keys(s.asked)) {
		t := s.asked[line]
		t.Addresses, t.Others = min(t.lone.Count(), t.Requests), t.others.Count()
		r.Strangers.Asked = append(r.Strangers.Asked, *t)
	}
	sortMost(r.Strangers.Paths, func(p StrangerPath) (int64, string) { return p.Lone.Requests, p.Host + p.Pattern })
}

// pagesOf returns the figures of a row of a host's tree.
func pagesOf(host *Host, row *cost.Row) StrangerPath {
	p := StrangerPath{Host: host.Name, Pattern: row.Pattern}
	for _, c := range row.Clients {
		if c.Name == loneClient {
			c.Seconds -= float64(c.Requests)
		}
		c.Seconds /= hardly
		p.Pages.Add(c.Sum)
		if c.Name == loneClient {
			p.Lone = c.Sum
		}
	}
	return p
}

// IsLonely reports whether mostly lone addresses requested the path, and often: the report
// says so of such paths.
func (p StrangerPath) IsLonely() bool {
	return p.Lone.Requests >= lonelyRequests && 2*p.Lone.Requests > p.Pages.Requests
}
