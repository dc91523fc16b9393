package crawler

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Matcher identifies User-Agents by a registry, by the tokens that a site's robots.txt names, and by their form.
// It is immutable and safe for concurrent use. Make one with [Registry.Matcher].
type Matcher struct {
	registry *Registry
	table    *wordTable // of the registry; all matchers share it
	site     *wordTable // of the site's own tokens; nil without any
	ignored  []string
	id       uint64 // unique in this process for each set of tokens; the cache uses it as part of its key
}

var matcherIDs atomic.Uint64

// maxSiteTokens is the maximum number of tokens of one site's robots.txt that a [Matcher] uses. Further ones are left out.
const maxSiteTokens = 10_000

// Matcher returns the matcher for a site. siteTokens are the values of the
// User-agent lines in its robots.txt. Of each value, only the part before a `/`
// counts, without a version after a space. `*`, and tokens that the registry has
// already, add nothing. All sites that add nothing share one matcher, and all
// matchers share the registry's table, so thousands of sites need little memory.
// A matcher keeps copies of the tokens, so it does not keep the file in memory.
func (r *Registry) Matcher(siteTokens []string) *Matcher {
	var tokens []token
	var ignored []string
	seen := map[string]bool{}
	for _, value := range siteTokens {
		name := siteToken(value)
		text := foldToken(name)
		if text == "" || seen[text] || len(seen) == maxSiteTokens {
			continue
		}
		seen[text] = true
		switch {
		case len(text) > maxTokenSize || !validToken(text):
		case r.People(text):
			ignored = append(ignored, strings.Clone(strings.TrimSpace(value)))
		case r.byUA[text] != nil || r.isPreference(text):
		default:
			tokens = append(tokens, token{text: text, name: strings.Clone(name), allowedInDevice: isCrawlerName(text)})
		}
	}
	if len(tokens) == 0 && len(ignored) == 0 {
		return r.base
	}
	m := &Matcher{registry: r, table: r.table, ignored: ignored, id: matcherIDs.Add(1)}
	if len(tokens) > 0 {
		m.site = buildTable(tokens, nil)
	} else {
		m.id = r.base.id // its results are the same as those of base
	}
	return m
}

// People reports whether people's browsers and apps send a product token, so that a group for it would apply to people: an app of the
// registry has it, or no crawler of the registry has it, and [BrowserWord] is true or the token has the form of a browser's or a device's name.
func (r *Registry) People(token string) bool {
	if c := r.byUA[canonical.Lower(token)]; c != nil {
		return c.Class == App
	}
	if r.isPreference(token) {
		return false
	}
	_, n := firstWord(token)
	form := parts(token) // NokiaBrowser, Telegram-Android, SAMSUNG-SGH-X120
	return BrowserWord(token) || n == len(token) && form&(roleBrowser|roleBrand|roleApp) != 0 && form&declarations == 0
}

// isPreference reports whether a robots.txt token is a preference.
func (r *Registry) isPreference(token string) bool {
	c := r.byBots[token]
	return c != nil && c.ControlOnly
}

// isCrawlerName reports whether a token can be the name of a crawler but not of a device: one word that contains a word for a crawler and
// something else.
func isCrawlerName(text string) bool {
	_, n := firstWord(text)
	return n == len(text) && vocabulary[text] == 0 && parts(text)&roleCrawlerWord != 0
}

// siteToken returns the part of a User-agent line's value that must occur in a User-Agent; "" for `*`.
func siteToken(value string) string {
	value, _, _ = strings.Cut(value, "/")
	value = strings.TrimSpace(value)
	if value == "*" {
		return ""
	}
	if i := strings.LastIndexByte(value, ' '); i >= 0 && strings.Trim(value[i+1:], "v0123456789.") == "" {
		value = strings.TrimSpace(value[:i])
	}
	return value
}

// Registry returns the registry that the matcher was made from.
func (m *Matcher) Registry() *Registry { return m.registry }

// Ignored returns the values of the site's User-agent lines that the matcher does not use, because browsers or apps send these words: a
// group for `Mozilla` would apply to people.
func (m *Matcher) Ignored() []string { return m.ignored }

// Cache stores the identity of each User-Agent. It holds a fixed number of
// entries, takes no locks for a User-Agent that it has, and keeps no reference to
// a request's memory. It is safe for concurrent use. Several matchers can share
// it: a result of one matcher is never used for another.
type Cache struct {
	seeds   [2]maphash.Seed
	results *table.Table[result]
}

const maxCacheEntries = 1 << 24

// result is the identity of one User-Agent. The User-Agent is compared by two
// hashes of 64 bits: the key in the table, and this one. Their seeds are secret, so
// clients can't make up two User-Agents with the same hashes.
type result struct {
	hash, matcher uint64
	agents        []Agent
}

// NewCache returns a cache for the given number of User-Agents, at most
// 16,777,216. An entry takes about 65 bytes, and about 80 more for each crawler
// that the User-Agent names. Each User-Agent has seven places, chosen by its hash.
// If all are in use, the new entry replaces one of them at random.
func NewCache(entries int) *Cache {
	return &Cache{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, table.New[result](min(entries, maxCacheEntries))}
}

// Identify is like [Matcher.Identify], but uses a cached result if there is
// one.
func (c *Cache) Identify(m *Matcher, ua string, id *Identity) {
	text := cut(ua)
	key, hash := maphash.String(c.seeds[0], text)^m.id*0x9e3779b97f4a7c15, maphash.String(c.seeds[1], text)
	if len(ua) > MaxUserAgent {
		key = ^key // a longer User-Agent has another result than its first MaxUserAgent octets
	}
	if r := c.results.Get(key); r != nil && r.hash == hash && r.matcher == m.id {
		id.n = copy(id.agents[:], r.agents)
		return
	}
	m.Identify(ua, id)
	worth := func(r *result) int64 { return int64(r.hash ^ hash) } // random
	c.results.Add(key, worth, func(r *result) { *r = result{hash, m.id, id.clone()} })
}

// clone returns a copy of the agents that shares no memory with a request, and
// makes id use its texts.
func (id *Identity) clone() []Agent {
	if id.n == 0 {
		return nil
	}
	agents := make([]Agent, id.n)
	for i, a := range id.Agents() {
		if a.Crawler == nil && a.Class != Named || a.Class == Scraper {
			a.Token = strings.Clone(a.Token) // it can share memory with the request
		}
		agents[i] = a
	}
	copy(id.agents[:], agents)
	return agents
}
