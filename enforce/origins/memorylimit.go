package origins

import (
	"sync"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

// defaultMaxMemory is the default of the memory that rules may take, in
// octets.
const defaultMaxMemory = 64 << 20

// Ceiling limits the memory that the rules of several engines use together.
// An engine that would exceed the limit drops some of its own origins. Each
// engine always keeps the rules of at least one origin, because without them
// crawlers would be let through. It is safe for concurrent use. A nil Ceiling sets no limit.
type Ceiling struct {
	max    int64
	used   atomic.Int64
	others []func() int64

	mu    sync.Mutex
	rules map[*judge.Rules]int // how many uses each has
	files map[*robots.File]int // how many rules use each
}

// NewCeiling returns a Ceiling of max octets. If max is 0 or less, it is
// 64 MiB.
func NewCeiling(max int64) *Ceiling {
	if max <= 0 {
		max = defaultMaxMemory
	}
	return &Ceiling{max: max, rules: make(map[*judge.Rules]int), files: make(map[*robots.File]int)}
}

// Include makes octets that are no rules count too: those that the functions return. It
// must be called before the Ceiling is used.
func (c *Ceiling) Include(octets ...func() int64) { c.others = append(c.others, octets...) }

// add adds n octets; n may be negative.
func (c *Ceiling) add(n int64) {
	if c != nil {
		c.used.Add(n)
	}
}

// use adds the octets of rules (change is 1), or subtracts them (-1). Rules and
// files count once.
func (c *Ceiling) use(rules *judge.Rules, change int) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !isEdge(c.rules, rules, change) {
		return
	}
	octets, file := rules.Size()
	if isEdge(c.files, rules.File(), change) {
		octets += file
	}
	c.used.Add(int64(change) * octets)
}

// isEdge counts one more use (1) or one less (-1), and reports whether it is the
// first or was the last.
func isEdge[K comparable](uses map[K]int, key K, change int) bool {
	before := uses[key]
	if uses[key] += change; before+change == 0 {
		delete(uses, key)
	}
	return before == 0 || before+change == 0
}

// exceeded reports whether the rules take more than they may.
func (c *Ceiling) exceeded() bool {
	if c == nil {
		return false
	}
	used, most := c.Usage()
	return used > most
}

// Usage returns an estimate of the octets that rules and what Include counts take now,
// and how many they may take.
func (c *Ceiling) Usage() (used, max int64) {
	used = c.used.Load()
	for _, octets := range c.others {
		used += octets()
	}
	return used, c.max
}
