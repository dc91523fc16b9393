package crawler

import (
	"strings"
	"sync/atomic"
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

func nextMatcherID() uint64 { return matcherIDs.Add(1) }

// MaxSiteTokens is the maximum number of tokens of one site's robots.txt that a [Matcher] uses. Further ones are left out.
const MaxSiteTokens = 10_000

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
		if text == "" || seen[text] || len(seen) == MaxSiteTokens {
			continue
		}
		seen[text] = true
		switch {
		case len(text) > MaxTokenSize || !validToken(text) || r.byUA[text] != nil || r.isPreference(text):
		case BrowserWord(text):
			ignored = append(ignored, strings.Clone(strings.TrimSpace(value)))
		default:
			tokens = append(tokens, token{text: text, name: strings.Clone(name), allowedInDevice: isCrawlerName(text)})
		}
	}
	if len(tokens) == 0 && len(ignored) == 0 {
		return r.base
	}
	m := &Matcher{registry: r, table: r.table, ignored: ignored, id: nextMatcherID()}
	if len(tokens) > 0 {
		m.site = buildTable(tokens, nil)
	} else {
		m.id = r.base.id // its results are the same as those of base
	}
	return m
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

// Ignored returns the values of the site's User-agent lines that the matcher does not use, because browsers send these words: a group for
// `Mozilla` would apply to people.
func (m *Matcher) Ignored() []string { return m.ignored }
