package crawler

import (
	"strings"
	"sync/atomic"
)

// Matcher identifies User-Agents by a registry, by the tokens that a site's robots.txt names, and by their shape.
// It is immutable and safe for concurrent use. Make one with [Registry.Matcher].
type Matcher struct {
	registry *Registry
	table    *table // of the registry, shared
	site     *table // of the site's own tokens; nil without any
	ignored  []string
	id       uint64 // unique in this process: what the cache tells matchers apart by
}

var matcherIDs atomic.Uint64

func nextMatcherID() uint64 { return matcherIDs.Add(1) }

// MaxSiteTokens bounds the tokens of one site's robots.txt that are looked for. More than that are left out.
const MaxSiteTokens = 10_000

// Matcher returns the matcher for a site whose robots.txt names siteTokens: the
// values of its User-agent lines. Only the part of a value before a `/` counts,
// without a version that follows a blank. `*` and tokens of the registry add
// nothing. Matchers share the registry's table, and all sites that add nothing
// share one matcher, so there may be thousands of sites.
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
		case len(text) > MaxTokenSize || !tokenShaped(text) || r.byUA[text] != nil:
		case BrowserWord(text):
			ignored = append(ignored, strings.TrimSpace(value))
		default:
			tokens = append(tokens, token{text: text, name: name, knownCrawler: compound(text)})
		}
	}
	if len(tokens) == 0 && len(ignored) == 0 {
		return r.base
	}
	m := &Matcher{registry: r, table: r.table, ignored: ignored, id: nextMatcherID()}
	if len(tokens) > 0 {
		m.site = buildTable(tokens, nil)
	} else {
		m.id = r.base.id // identifies as the base does
	}
	return m
}

// compound reports whether a token is a crawler's name that can't be a device's: a word for a crawler as a part of a longer one.
func compound(text string) bool {
	_, n := firstWord(text)
	return n == len(text) && vocabulary[text] == 0 && parts(text)&roleStrong != 0
}

// siteToken returns the part of a User-agent line's value that a User-Agent is searched for.
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

// Ignored returns the values of the site's robots.txt that are not looked for because browsers send them: a group for `Mozilla`
// would bind people.
func (m *Matcher) Ignored() []string { return m.ignored }
