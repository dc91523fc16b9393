package statusapi

import "time"

// FleetView is the answer to GET /robots/fleet: the counts of all servers that share
// budgets, as each of them told Redis last.
type FleetView struct {
	Now time.Time `json:"now"`
	On  bool      `json:"on"` // a site has a fleet
	// why the counts of other servers are missing or old: Redis does not answer
	Error   string        `json:"error,omitempty"`
	Servers []FleetServer `json:"servers"` // the alive first, by name
	Sum     FleetSpans    `json:"sum"`     // of all sites in the scope at all servers

	// The sums of sites, and of crawlers at all sites, the busiest first, as many as the
	// query wants. Crawlers is empty unless the scope has all sites.
	Sites        []FleetRow `json:"sites"`
	SitesTotal   int        `json:"sites_total"`
	Crawlers     []FleetRow `json:"crawlers"`
	CrawlerTotal int        `json:"crawlers_total"`
}

// FleetServer is one server of a fleet.
type FleetServer struct {
	// its host name; empty unless the scope has all sites
	Name  string    `json:"name"`
	Own   bool      `json:"own"`   // it is this one
	Alive bool      `json:"alive"` // it told its counts in the last half minute
	Time  time.Time `json:"time"`  // when it told them last; it is forgotten an hour later
	More  int       `json:"more"`  // number of its sites that it has no room to tell
	FleetSpans
}

// FleetRow has the counts of a site, a host or a crawler at all servers.
type FleetRow struct {
	Name    string `json:"name"`
	Pattern string `json:"pattern,omitempty"` // of a host: as Site.Pattern
	Class   string `json:"class,omitempty"`   // of a crawler
	Servers int    `json:"servers,omitempty"` // how many have counted requests of it
	FleetSpans
}

// FleetSpans has counts of the last hour and the last day.
type FleetSpans struct {
	Hour FleetCounts `json:"hour"`
	Day  FleetCounts `json:"day"`
}

// FleetCounts are counts of requests: of crawlers, as in Counts, of people, and of strangers.
type FleetCounts struct {
	Requests    uint64 `json:"requests"`
	Denied      uint64 `json:"denied"`
	Throttled   uint64 `json:"throttled"`
	WouldRefuse uint64 `json:"would_refuse"` // passed only because of monitor mode
	People      uint64 `json:"people"`
	Strangers   uint64 `json:"strangers"`
}

// Add adds other to s.
func (s *FleetSpans) Add(other FleetSpans) {
	s.Hour.add(other.Hour)
	s.Day.add(other.Day)
}

func (c *FleetCounts) add(other FleetCounts) {
	c.Requests += other.Requests
	c.Denied += other.Denied
	c.Throttled += other.Throttled
	c.WouldRefuse += other.WouldRefuse
	c.People += other.People
	c.Strangers += other.Strangers
}

// FleetQuery says how many sites and crawlers a FleetView has: Limit of each, 0: 100.
type FleetQuery struct {
	Limit int
	Name  string // only sites with this text in their name
}
