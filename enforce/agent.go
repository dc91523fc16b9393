package enforce

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// CheckAgent is for a User-Agent that somebody typed to see what would happen to
// a request. It calls check (Rules.Check, for instance). If the User-Agent is
// only a product token, and check takes the client for a person, CheckAgent
// calls check again for a crawler with that token, because no browser sends
// such a User-Agent. r must have exactly one User-Agent.
func CheckAgent(check func(*Request, *Decision), r *Request, d *Decision) {
	if check(r, d); d.Reason != Person || !isProductToken(r.UserAgents[0]) {
		return
	}
	as := *r
	as.UserAgents = []string{"Mozilla/5.0 (compatible; " + r.UserAgents[0] + "/1.0)"}
	check(&as, d)
}

// isProductToken reports whether a User-Agent is a product token alone.
func isProductToken(agent string) bool {
	return agent != "" && strings.Trim(agent, productTokenOctets) == ""
}

// productTokenOctets are the octets that RFC 9309, section 2.2.1, allows in a
// product token, and also digits and dots, which real tokens have.
const productTokenOctets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-0123456789."

// Agent returns the crawler with a name or product token: a crawler of the
// registry, or, if the registry has none, a self-declared crawler with that
// token.
func (e *Engine) Agent(name string) crawler.Agent {
	if row := e.Registry().Lookup(name); row != nil {
		return signedAgent(row)
	}
	var id crawler.Identity
	identities().Identify(e.settings.base, name, &id)
	for i := range id.Len() {
		if id.At(i).Crawler != nil {
			return *id.At(i)
		}
	}
	return crawler.Agent{Class: crawler.SelfDeclared, Token: name}
}
