package enforce

import "sync/atomic"

// DefaultMaxMemory is the most memory that policies take by default, in
// octets.
const DefaultMaxMemory = 64 << 20

// Ceiling bounds the memory that the policies of several engines use together.
// An engine that would exceed the bound drops some of its own origins. Each
// engine always keeps at least one policy, because without it crawlers would be
// let through. It is safe for concurrent use. A nil Ceiling bounds nothing.
type Ceiling struct {
	max  int64
	used atomic.Int64
}

// NewCeiling returns a Ceiling of max octets; 0 means DefaultMaxMemory.
func NewCeiling(max int64) *Ceiling {
	if max <= 0 {
		max = DefaultMaxMemory
	}
	return &Ceiling{max: max}
}

// add adds n octets, which may be below zero.
func (c *Ceiling) add(n int64) {
	if c != nil {
		c.used.Add(n)
	}
}

// exceeded reports whether too much is used.
func (c *Ceiling) exceeded() bool { return c != nil && c.used.Load() > c.max }

// Max returns the octets that policies may take.
func (c *Ceiling) Max() int64 { return c.max }

// Used returns the octets that policies take now, as estimated.
func (c *Ceiling) Used() int64 { return c.used.Load() }
