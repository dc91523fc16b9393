package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// collector collects Evidence.
type collector struct {
	Evidence
	*Query
	matcher   *crawler.Matcher // of the registry alone: a site's robots.txt gives no class
	id        crawler.Identity
	addresses map[string]*Address
	hours     map[int64]int64 // requests by the hour since 1970
	versions  map[string]bool
	read      map[reader]lastRead
	judged    bool             // some request has a decision
	refusal   error            // why there can be no document about the last client of that name
	left      map[string]int64 // what is not listed, or not known
}

// reader is who read the robots.txt of a host: an address, or "" for all addresses that are confirmed.
type reader struct{ address, host string }

// lastRead is the last read of robots.txt.
type lastRead struct {
	at      int64  // nanoseconds since 1970; 0: none
	version string // "" without a file
}

// mayCache is how long a crawler may use a copy of robots.txt (RFC 9309, section 2.4).
const mayCache = int64(24 * time.Hour)

// The limits of Evidence.
const (
	maxAddresses = 1000
	maxAgents    = 20
	maxVersions  = 100
	maxReads     = 1000
	maxReaders   = 100_000
	maxRequests  = 10_000
	maxHours     = 10_000
)

// What is not listed, or not known.
const (
	unknownText = "What versions of robots.txt said of which only the name is known (--robots gives their files, and persist keeps them)"
	unconfirmed = "Whether addresses that are not confirmed are the crawler's, because anybody can send its name " +
		"(of these, only requests after the address's own read of robots.txt are listed)"
	earlier    = "Disallowed requests before a read of the host's robots.txt, which are not listed"
	cached     = "Requests disallowed by a version that was not read, less than 24 hours after another one was, which are not listed"
	untimed    = "Requests without a time, which are not listed"
	noRequest  = "Disallowed requests for which there is no room, but for the counts"
	noAddress  = "Requests of addresses for which there is no room"
	noRead     = "Reads of robots.txt for which there is no room"
	noHour     = "Requests of hours for which there is no room"
	noVersion  = "Requests decided by versions of robots.txt for which there is no room"
	noDecision = "Requests whose decision is not known"
)

func newCollector(q *Query, name string) *collector {
	return &collector{
		Evidence: Evidence{
			Name: name, Addresses: []*Address{}, Agents: []string{}, RobotsTxt: []RobotsTxt{}, Reads: []Request{},
			Requests: []Request{}, Hours: []Hour{},
		},
		Query: q, matcher: crawler.Builtin().Matcher(nil), addresses: make(map[string]*Address), hours: make(map[int64]int64),
		versions: make(map[string]bool), read: make(map[reader]lastRead), left: make(map[string]int64),
	}
}

// isSender reports whether the crawler sent a request, and a document may be about it.
func (c *collector) isSender(j *audit.Judged) bool {
	c.matcher.Identify(j.Entry.UserAgent(), &c.id)
	for _, a := range append(slices.Clone(c.id.Agents()), j.By.Agent) { // the latter for crawlers of the operator's own registry
		if strings.EqualFold(a.Name(), c.Name) && a.Class != crawler.Person {
			c.refusal = c.admit(&a)
			return c.refusal == nil
		}
	}
	return false
}

// allowed are the classes of crawlers that a document may be about.
var allowed = []crawler.Class{crawler.Registered, crawler.SelfDeclared, crawler.Scraper}

// peoples are purposes of crawlers whose addresses are those of people.
var peoples = []crawler.Purpose{crawler.Preview, crawler.Feed, crawler.UserRequest, crawler.AIUser, crawler.AIAgent}

// admit returns an error for a client that a document must not be about.
func (c *collector) admit(a *crawler.Agent) error {
	is, ok := a.SentClass().String(), slices.Contains(allowed, a.SentClass())
	c.Name = strings.Clone(a.Name())
	if row := a.Crawler; row != nil {
		c.Operator = row.Operator
		if i := slices.IndexFunc(row.Purposes, func(p crawler.Purpose) bool { return slices.Contains(peoples, p) }); i >= 0 {
			is, ok = string(row.Purposes[i]), false
		}
	}
	switch c.Class = is; {
	case !ok:
		return fmt.Errorf("--evidence is for crawlers, scrapers and self-declared robots of one operator. %s is none (%s): "+
			"its addresses can be those of people", c.Name, is)
	case a.RunByAnyone() && (len(c.Clients) != 1 || c.Clients[0].Bits() < min(24*(c.Clients[0].Addr().BitLen()/32), 48)):
		return fmt.Errorf("anyone can run %s, so its addresses are those of different people: name the address of one with --client", c.Name)
	}
	return nil
}

// count counts a request.
func (c *collector) count(j *audit.Judged) {
	e := &j.Entry
	if !c.ofClient(e) || c.distance(e) > 0 || !c.isSender(j) {
		return
	}
	d := logged(j)
	if d == nil && j.Rules != nil {
		d = new(verdict.Of(j.By))
	}
	a := c.address(j, d)
	if a == nil {
		return
	}
	if d == nil {
		c.left[noDecision]++
		return
	}
	c.judged = true
	if agent := mask.Shortened(e.UserAgent()); len(c.Agents) < maxAgents && !slices.Contains(c.Agents, agent) {
		c.Agents = append(c.Agents, agent)
	}
	by := reader{a.Address, judge.NewOrigin("", e.Host, 0).Host}
	read, all := c.read[by], c.read[reader{"", by.host}]
	if a.State == verified && all.at > read.at {
		read = all
	}
	isRobotsTxt := judge.IsRobotsTxt(e.Target)
	switch {
	case isRobotsTxt && !j.IsRead() || !isRobotsTxt && d.Reason != judge.Disallowed.String():
	case !e.Timed:
		c.left[untimed]++
	case isRobotsTxt:
		c.addRead(j, d, by, a.State == verified)
	case read.at == 0:
		c.left[earlier]++
	case read.version != d.Version && e.At-read.at < mayCache:
		c.left[cached]++
	default:
		a.Disallowed++
		c.add(j, d)
	}
}

// The states of an address that is the crawler's, and of one that is not.
const (
	verified = "verified"
	refuted  = "impostor"
)

// address returns the row of a request's address; nil if there is no room.
func (c *collector) address(j *audit.Judged, d *verdict.Decision) *Address {
	e := &j.Entry
	states := []string{"none", "unverified", refuted, verified} // the one that says most counts
	best := slices.Index(states, j.By.Claim.State.String())
	if d != nil {
		best = max(best, slices.Index(states, d.Verified))
	}
	most := maxAddresses
	if states[max(best, 0)] == verified { // others can't take the room of these
		most *= 2
	}
	name := mask.Shortened(e.Client)
	a := c.addresses[name]
	if a == nil {
		if !c.room(len(c.addresses), most, noAddress) {
			return nil
		}
		a = &Address{Address: name, State: "none", First: stamp(e)}
		c.addresses[name], c.Addresses = a, append(c.Addresses, a)
	}
	a.Requests++
	a.Last = stamp(e)
	a.State = states[max(best, slices.Index(states, a.State))]
	return a
}

// addRead lists a read of robots.txt.
func (c *collector) addRead(j *audit.Judged, d *verdict.Decision, by reader, confirmed bool) {
	if _, ok := c.read[by]; !ok && !c.room(len(c.read), maxReaders, noRead) {
		return
	}
	by.host = mask.Shortened(by.host)
	read := lastRead{j.Entry.At, d.Version}
	if c.read[by] = read; confirmed {
		c.read[reader{"", by.host}] = read
	}
	c.note(d.Version)
	if c.room(len(c.Reads), maxReads, noRead) {
		c.Reads = append(c.Reads, c.request(j, d))
	}
}

// add lists a request that the file disallowed.
func (c *collector) add(j *audit.Judged, d *verdict.Decision) {
	c.Disallowed++
	c.note(d.Version)
	if c.room(len(c.Requests), maxRequests, noRequest) {
		c.Requests = append(c.Requests, c.request(j, d))
	}
	if hour := j.Entry.At / int64(time.Hour); c.hours[hour] > 0 || c.room(len(c.hours), maxHours, noHour) {
		c.hours[hour]++
	}
}

// room reports whether a table with n rows has room for one more, and counts what is left out.
func (c *collector) room(n, most int, what string) bool {
	if n >= most {
		c.left[what]++
	}
	return n < most
}

// note notes a version of robots.txt.
func (c *collector) note(version string) {
	if version != "" && (c.versions[version] || c.room(len(c.versions), maxVersions, noVersion)) {
		c.versions[version] = true
	}
}

// request returns the current request for the document: with the whole address, without the values of its query.
func (c *collector) request(j *audit.Judged, d *verdict.Decision) Request {
	return newRequest(j, mask.Masker{Full: true}, mask.Masker{}, d)
}
