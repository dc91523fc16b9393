package enforce

import (
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// cachedIdentities is how many User-Agents the cache holds. They take about 4
// MB if all are those of browsers.
const cachedIdentities = 1 << 16

// identities is one cache for all engines, because there may be many sites, and
// they get requests with the same User-Agents.
var identities = sync.OnceValue(func() *crawler.Cache { return crawler.NewCache(cachedIdentities) })

// tooManyFields is the agent of a request with more than maxUserAgents fields.
var tooManyFields = []crawler.Agent{{Class: crawler.SelfDeclared, Token: "several-user-agents", Reason: crawler.ManyFields}}

// Identify finds the crawlers that a User-Agent names, by the tokens of the
// registry and of the file, and writes them to id. It allocates nothing for a
// User-Agent that is in the cache.
func (p *Rules) Identify(userAgent string, id *crawler.Identity) {
	identities().Identify(p.matcher, userAgent, id)
}
