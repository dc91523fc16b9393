package audit

import (
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/browser"
)

// userAgent is what is known of a User-Agent of people.
type userAgent struct {
	isBrowser bool // its form is a browser's
	isExact   bool // it always sends Sec-Fetch-* fields over HTTPS
}

// userAgents remembers them: most come often.
type userAgents map[string]userAgent

// maxUserAgents is the largest number that is remembered.
const maxUserAgents = 1 << 15

// of returns what is known of a User-Agent.
func (p userAgents) of(ua string) userAgent {
	a, known := p[ua]
	if known {
		return a
	}
	if len(p) >= maxUserAgents {
		clear(p)
	}
	a = userAgent{isBrowser: browser.IsBrowser(ua), isExact: browser.SendsFetchFields(ua)}
	p[mask.Shortened(ua)] = a
	return a
}
