package origins

import (
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Limits that the operator can't configure.
const (
	// firstWait is how long crawlers wait for the first rules of an origin,
	// from the start of the fetch.
	firstWait = 5 * time.Second
	// maxWaiting is how many requests can wait for rules at once. Those for one
	// origin can take as many places as they leave free: one host must not keep
	// crawlers from waiting for others.
	maxWaiting = 1000
	// fetchTimeout is how long one fetch may take.
	fetchTimeout = 10 * time.Second
	// maxFetches is how many first fetches for origins can run at once, so many that some
	// hosts that do not answer leave room for others. As many others can run at the same
	// time. A client can start a first fetch with each host name that it invents. So first
	// fetches must be limited, and must leave the others enough room.
	maxFetches = 96
	// minRefetch is the shortest time between two fetches for one origin.
	minRefetch = time.Second
	// dueWait is how long crawlers wait for a fetch that is due, so
	// that the first crawler after a quiet time does not get an earlier file.
	dueWait = time.Second
	// maxStale is how long after the next fetch was due crawlers wait for it
	// like for a first one. It is the time for which crawlers may use their own
	// cached copies (RFC 9309, section 2.4).
	maxStale = 24 * time.Hour
)

// Config has what a Table needs besides a source and settings. The zero value is
// ready for use. Caches and tables that are given can be shared by several
// engines.
type Config struct {
	// Refresh is the time between two fetches for an origin. Zero means 1 minute;
	// less than 1 second counts as 1 second. A failed fetch is repeated without a
	// request, unless the host is Invented or had no request for 24 hours: after
	// Refresh if a cached copy is in force, otherwise after 1, 2, 4 … seconds, up
	// to Refresh.
	Refresh time.Duration
	// MaxOrigins is how many origins are kept. Beyond it, the engine drops
	// another origin: first one with an Invented host, then one whose file was not
	// fetched yet, then the least recently used one. Zero or less means 1000.
	MaxOrigins int

	DenyFailed bool       // deny crawlers every path while the source fails, as RFC 9309 says; otherwise the cached copy stays in force
	Ceiling    *Ceiling   // limits the memory of rules; no limit if nil
	Copies     *Copies    // cache for the time after the engine is closed; none if nil
	Histories  *Histories // the earlier versions, even for the time after the engine is closed; none if nil
	// Handler returns where the files are enforced, so that Histories keeps their
	// versions, and the home of budgets with judge.Settings.StepBudgets. It is called once requests come, or by
	// Connect. If it is nil, Histories keeps none.
	Handler   func() HandlerKey
	Published bool              // the caller answers all requests for /robots.txt with Rules.Text; otherwise only if Rules.Published
	Fetched   func(FetchEvent)  // called after every fetch, for logs and metrics; it must be safe for concurrent use and must not block
	Evicted   func(memory bool) // called when an origin with rules or a fetch is dropped for the Ceiling (memory) or MaxOrigins; as Fetched
	Now       func() time.Time  // the clock for fetches; default time.Now
}

// complete returns c with defaults in place of zero values.
func (c Config) complete() Config {
	if c.Refresh == 0 {
		c.Refresh = time.Minute
	}
	c.Refresh = max(c.Refresh, minRefetch)
	if c.MaxOrigins <= 0 {
		c.MaxOrigins = 1000
	}
	if c.Fetched == nil {
		c.Fetched = func(FetchEvent) {}
	}
	if c.Evicted == nil {
		c.Evicted = func(bool) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// FetchEvent is the result of one attempt to fetch a robots.txt.
type FetchEvent struct {
	Origin   judge.Origin // the zero Origin if one file serves all origins
	Outcome  judge.Outcome
	Err      error         // why the outcome is neither Loaded nor Unchanged
	Rules    *judge.Rules  // the rules in force after the fetch
	Changed  bool          // the outcome or the file differs from that of the previous fetch
	Held     bool          // the outcome is of a new version that is fetched again before it counts; Rules is what stays in force
	Again    bool          // the source works again: the fetch before this one failed
	Repeated bool          // the first fetch since the origin was evicted
	Took     time.Duration // how long the fetch took
}
