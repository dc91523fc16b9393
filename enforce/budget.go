package enforce

import (
	"net/netip"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// budget returns the key of the budget that a request draws on: that of the
// origin and the crawler, across the crawler's addresses; of one client's
// address for HTTP libraries, which many people share, and where the operator
// wants it. It is the same in every process, and allocates nothing.
func (e *Engine) budget(r *Request, a *crawler.Agent) throttle.Key {
	name := a.Token
	if a.Crawler != nil {
		name = a.Crawler.Name
	}
	k := throttle.KeyOf(hash(1, r.Origin, name), hash(2, r.Origin, name))
	if a.Class == crawler.Library || e.rules.PerIP {
		addr, _ := netip.ParseAddr(r.Client)
		return k.Client(addr)
	}
	if a.Crawler == nil && a.Class == crawler.SelfDeclared {
		return k.Disposable() // anybody can make up such a name
	}
	return k
}

// hash hashes an origin and a name without regard to the name's case. It need
// not withstand forgery: whoever wants to draw on a crawler's budget can as
// well send its User-Agent.
func hash(seed uint64, o Origin, name string) uint64 {
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.WriteString(o.Scheme)
	_, _ = d.WriteString(o.Host)
	var lower [64]byte
	n := 0
	lower[n], n = 0, n+1
	for i := 0; i < len(name) && n < len(lower); i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[n], n = c, n+1
	}
	_, _ = d.Write(lower[:n])
	return d.Sum64()
}
