package enforce

import (
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// cachedIdentities is how many User-Agents the process remembers: some 4 MB
// when all are people's.
const cachedIdentities = 1 << 16

// identities is the cache of all engines: sites see the same User-Agents, and
// there may be many sites.
var identities = sync.OnceValue(func() *crawler.Cache { return crawler.NewCache(cachedIdentities) })

// manyFields is who sends more User-Agent fields than are read: robots do.
var manyFields = []crawler.Agent{{Class: crawler.SelfDeclared, Token: "several-user-agents", Reason: crawler.ManyFields}}

// Identify finds the crawlers that a User-Agent names, by the tokens of the
// registry and of the file. It allocates nothing for a User-Agent that was seen
// before.
func (p *Policy) Identify(userAgent string, id *crawler.Identity) {
	identities().Identify(p.matcher, userAgent, id)
}
