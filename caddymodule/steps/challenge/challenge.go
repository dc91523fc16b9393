// Package challenge tells browsers from disguised robots while strangers storm pages:
// while many addresses request a document of certain paths and nothing else, a client
// without a pass gets a page that a browser passes by itself. Below that nobody notices
// anything.
//
// A Memory outlives a configuration and has the keys, what is remembered of clients, and a
// Storm for each origin. A Check has the settings of a handler. For each request, the
// step Challenge calls Receive before the handler decides, Pace after that, and Serve if the
// Verdict says that the request is answered here. The step Storms watches all other pages.
//
// Tokens and passes are stateless, and signed: see token.go. What is counted is bounded,
// and holds keyed hashes of addresses.
package challenge

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/seal"
	"github.com/caddy-robots/caddy-robots/internal/table"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Bounds of what a Memory remembers: about 60 MB if all of it is used.
const (
	maxMemos  = 7 << 16
	maxStorms = 1 << 10 // origins
)

var results = metrics.NewCounter("challenges_total",
	"Checks of strangers, by result: shown, style (cookie sent), passed (cookie came back), button (pressed) or refused (429).", "result")

// count counts a result.
func count(result string) { results.WithLabelValues(result).Inc() }

// Memory has what checks remember. It is safe for concurrent use.
type Memory struct {
	ring  atomic.Pointer[ring]
	first *seal.Key   // of this process: it signs until keys are loaded
	ready atomic.Bool // the keys were looked for, so that passes of an earlier process are known

	keysFailed atomic.Pointer[error] // of the last exchange of keys; nil before the first
	damaged    atomic.Int64          // when keys that can't be read were replaced; 0: never

	memos  *table.Table[memo]
	storms *table.Table[Storm]
	seed   maphash.Seed
}

// NewMemory returns an empty Memory. It checks nobody until Run has looked for keys.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed(), memos: table.New[memo](maxMemos), storms: table.New[Storm](maxStorms)}
	keys := ringOf(randomSecret())
	m.first = keys[0]
	m.ring.Store(&keys)
	return m
}

// keys returns the keys that are accepted, of which the first signs.
func (m *Memory) keys() ring { return *m.ring.Load() }

// Storms calls yield for each storm of the check.
func (c *Check) Storms(yield func(*Storm) bool) {
	id := c.id()
	for s := range c.memory.storms.All() {
		if s.check == id && !yield(s) {
			return
		}
	}
}

// Config has the settings of a Check.
type Config struct {
	Name   string         // the line of the configuration, such as `challenge /blame/*`
	Over   int            // documents of lone addresses in Window
	Window time.Duration  // from 10 seconds to 10 minutes
	For    time.Duration  // how long a pass is good
	Mark   bool           // strangers are only marked
	Always bool           // strangers are asked, storm or not
	Names  []string       // of clients that are never asked, as in the registry
	From   []netip.Prefix // their addresses
	Paths  *robots.Group  // nil: those that robots.txt disallows
	Page   *Page
	Trap   Trap        // where trap URLs lie; "" without
	Busy   func() bool // whether the server is busy; nil if nobody knows
}

// Check is the check of a handler. It is safe for concurrent use.
type Check struct {
	Config
	memory *Memory
	id     func() checkID
	off    sync.Map // of the origins' hosts, and "" for all, for which the operator has switched it off
}

// New returns a Check. key names the handler when requests come: one with the same key goes
// on with what was counted, if the settings of the storm are the same.
func New(m *Memory, c Config, key func() string) *Check {
	check := &Check{Config: c, memory: m}
	check.id = sync.OnceValue(func() checkID { return checkID{key(), c.Name, c.Over, c.Window} })
	return check
}

// storm returns the storm of the origin of a request.
func (c *Check) storm(q *judge.Request, now uint32) *Storm {
	site := q.SiteName()
	key := max(1, maphash.Comparable(c.memory.seed, stormKey{c.id(), site, q.Origin.Port}))
	s := c.memory.storms.Add(key, func(s *Storm) int64 { return int64(s.seen.Load()) }, func(s *Storm) { s.start(site, c, key) })
	if s.seen.Load() != now {
		s.seen.Store(now)
	}
	return s
}

// checkID has all that shapes the storms of a handler.
type checkID struct {
	handler, name string
	over          int
	window        time.Duration
}

// stormKey has all that shapes a storm.
type stormKey struct {
	check checkID
	site  string
	port  uint16
}

// isOn reports whether strangers are checked at a host.
func (s *Storm) isOn(c *Check, host string, now uint32) bool {
	return (s.IsOn(now, c.Busy) || c.Always) && c.isUsed(host)
}

// isUsed reports whether the operator has not switched the check off for a host.
func (c *Check) isUsed(host string) bool { return c.memory.ready.Load() && !c.IsOff(host) }

// IsOff reports whether the operator has switched the check off for a host.
func (c *Check) IsOff(host string) bool {
	_, all := c.off.Load("")
	_, here := c.off.Load(host)
	return all || here
}

// Set switches the check off for a host, or for all hosts ("") of the handler, until it is
// switched on again.
func (c *Check) Set(host string, on bool) {
	if on {
		if c.off.Delete(host); host == "" {
			c.off.Clear()
		}
		return
	}
	c.off.Store(host, true)
}
