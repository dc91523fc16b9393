package challenge

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// clientKind says what the client of a request is, for a check. What the request says of itself
// makes no difference: a robot can send anything.
type clientKind uint8

const (
	free     clientKind = iota // neither held nor counted
	named                      // it names a crawler that no rule binds
	stranger                   // any other client that no rule binds
)

// kindOf returns the kind of the client of a request.
func (c *Check) kindOf(q *judge.Request, d *judge.Decision) clientKind {
	if d.Action != judge.Pass || d.Claim.State == claim.Verified || c.excepts(q, d) {
		return free
	}
	switch d.Reason {
	case judge.Exempt, judge.ExemptPath, judge.Allowed, judge.Graced:
		return free
	}
	switch d.Agent.Class {
	case crawler.Probe:
		return free
	case crawler.Registered, crawler.Named, crawler.SelfDeclared, crawler.UserTriggered, crawler.Scraper:
		return named
	}
	return stranger
}

// excepts reports whether the configuration names a client, by its name or its address.
func (c *Check) excepts(q *judge.Request, d *judge.Decision) bool {
	if row := d.Agent.Crawler; row != nil && words.ContainsFold(c.Names, row.Name) || d.Agent.Token != "" && words.ContainsFold(c.Names, d.Agent.Token) {
		return true
	}
	if len(c.From) == 0 || q.Ambiguous { // by which any client could be anybody
		return false
	}
	addr := netaddr.Unmap(q.Addr())
	return slices.ContainsFunc(c.From, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// closes reports whether the check is for the path of a request.
func (c *Check) closes(rules *judge.Rules, q *judge.Request) bool {
	if c.Paths == nil {
		return rules.DisallowsPart(q.Target)
	}
	return rules.Name(c.Paths, q.Target)
}

// isPreflight reports whether a browser asks whether a script of another origin may send a
// request. It can't have a cookie.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && len(r.Header["Origin"]) > 0 && len(r.Header["Access-Control-Request-Method"]) > 0
}

// proves reports whether a client that is served for such a request is known to the site: it
// has credentials, or changes something with what browsers send, or is a webhook.
func proves(q *judge.Request, r *http.Request, class crawler.Class) bool {
	return q.Authorized ||
		!q.Reads() && (class == crawler.Webhook || len(r.Header["Cookie"]) > 0 || len(r.Header["Sec-Fetch-Site"]) > 0)
}

// IsDocument reports whether a request is for a document: by Sec-Fetch-Dest or, in browsers
// that send no such field, unless Accept says that the page embeds what it gets. A prefetch
// is none.
func IsDocument(r *http.Request) bool {
	h := r.Header
	if len(h["Sec-Purpose"])+len(h["Purpose"])+len(h["X-Moz"])+len(h["Upgrade"]) > 0 || r.Method == http.MethodConnect {
		return false
	}
	if dest := h["Sec-Fetch-Dest"]; len(dest) > 0 {
		return len(dest) > 1 || dest[0] == "document"
	}
	if len(h["Sec-Fetch-Site"])+len(h["Sec-Fetch-Mode"])+len(h["Sec-Fetch-User"]) > 0 {
		return false
	}
	accept := h["Accept"]
	if len(accept) == 0 {
		return true
	}
	for _, media := range [...]string{"image/", "text/css", "font/", "audio/", "video/", "text/event-stream"} {
		if strings.HasPrefix(accept[0], media) {
			return false
		}
	}
	return true
}

// opens reports whether a browser opens a page by a request, as far as it says. A program that
// takes anything does not.
func opens(q *judge.Request, r *http.Request) bool {
	if !q.Reads() {
		return false
	}
	if dest := r.Header["Sec-Fetch-Dest"]; len(dest) > 0 {
		return dest[0] == "document"
	}
	accept := r.Header["Accept"]
	return len(accept) > 0 && strings.Contains(accept[0], "html")
}

// wants reports whether a request is for an embedded file of a kind.
func wants(r *http.Request, dest, media string) bool {
	if d := r.Header["Sec-Fetch-Dest"]; len(d) > 0 {
		return d[0] == dest
	}
	accept := r.Header["Accept"]
	return len(accept) > 0 && strings.HasPrefix(accept[0], media)
}

// takesHTML reports whether a client can show a page, as far as it says: one under a service
// worker has the Sec-Fetch-Dest of a script's request.
func takesHTML(r *http.Request) bool {
	if dest := r.Header["Sec-Fetch-Dest"]; len(dest) > 0 {
		switch dest[0] {
		case "document", "empty", "iframe", "frame", "embed", "object":
		default:
			return false
		}
	}
	accept := r.Header["Accept"]
	for _, field := range accept {
		for _, media := range [...]string{"text/html", "text/*", "*/*", "application/xhtml+xml"} {
			if strings.Contains(field, media) {
				return true
			}
		}
	}
	return len(accept) == 0
}
