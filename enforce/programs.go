package enforce

import (
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// copyLifetime is how long a read of robots.txt by a client counts: crawlers
// may use a cached copy for 24 hours (RFC 9309, section 2.4).
const copyLifetime = 24 * time.Hour

// hasRead reports whether an agent is a program that has read the robots.txt, and
// so is bound by it; see ProgramsSeen.
func (e *Engine) hasRead(r *judge.Request, a *crawler.Agent) bool {
	return a.Class == crawler.Program && e.settings.Programs == judge.ProgramsSeen &&
		e.memory.readers.seen(programKey(r, a), r.Time, copyLifetime)
}

// programKey is the key, in Memory.readers, of a program that has read the robots.txt
// of an origin from one address.
func programKey(r *judge.Request, a *crawler.Agent) uint64 {
	addr, _ := netip.ParseAddr(r.Client)
	k := throttle.KeyOf(hash(seedProgram, r.Origin, a.Token)).Client(addr)
	return k[0]
}
