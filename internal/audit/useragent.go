package audit

import "github.com/caddy-robots/caddy-robots/internal/browser"

// userAgent is what is known of a User-Agent of people.
type userAgent struct {
	isBrowser bool // its form is a browser's
	isExact   bool // it always sends Sec-Fetch-* fields over HTTPS
}

// userAgents remembers them by their hashes: most come often.
type userAgents map[uint64]userAgent

// maxUserAgents is the largest number that is remembered.
const maxUserAgents = 1 << 15

// of returns what is known of a User-Agent with a hash.
func (p userAgents) of(ua string, hash uint64) userAgent {
	a, known := p[hash]
	if known {
		return a
	}
	if len(p) >= maxUserAgents {
		clear(p)
	}
	a = userAgent{isBrowser: browser.IsBrowser(ua), isExact: browser.SendsFetchFields(ua)}
	p[hash] = a
	return a
}
