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

// accepts reports whether the field Accept names one of some media types.
func accepts(r *http.Request, types ...string) bool {
	accept := strings.Join(r.Header["Accept"], ",")
	return slices.ContainsFunc(types, func(media string) bool { return strings.Contains(accept, media) })
}

// opensPage reports whether a browser opens a page by a request, as far as it says. A program that
// takes anything does not.
func opensPage(r *http.Request) bool {
	if dest := r.Header["Sec-Fetch-Dest"]; len(dest) > 0 {
		return dest[0] == "document"
	}
	return accepts(r, "html")
}

// wantsStyle reports whether a page embeds what a request is for as a style sheet.
func wantsStyle(r *http.Request) bool {
	if dest := r.Header["Sec-Fetch-Dest"]; len(dest) > 0 {
		return dest[0] == "style"
	}
	return accepts(r, "text/css")
}

// takesHTML reports whether a client can show a page, as far as it says.
func takesHTML(r *http.Request) bool {
	switch strings.Join(r.Header["Sec-Fetch-Dest"], ",") {
	case "image", "script", "style", "font", "audio", "video", "track":
		return false
	}
	return len(r.Header["Accept"]) == 0 || accepts(r, "text/html", "text/*", "*/*", "application/xhtml+xml")
}
