package challenge

import (
	"net/http"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/browser"
)

// requestKind says what a request is, for a check.
type requestKind uint8

const (
	free      requestKind = iota // not held here
	other                        // of a client that no rule binds
	file                         // of a person, or of a client that looks so, and no document
	elsewhere                    // of a person, for a path that the check is not for
	document                     // of a person, for a path that the check is for
)

// visit is a request, for a check.
type visit struct {
	kind    requestKind
	closed  bool // the check is for the path
	matched bool // closed is known
}

// closes reports whether the check is for the path of a request.
func (c *Check) closes(v *visit, rules *judge.Rules, q *judge.Request) bool {
	if !v.matched {
		if v.matched = true; c.Watches {
			v.closed = rules.DisallowsPart(q.Target)
		} else {
			v.closed = rules.Challenges(q.Target)
		}
	}
	return v.closed
}

// kindOf says what a request is.
func (c *Check) kindOf(q *judge.Request, r *http.Request, d *judge.Decision) (v visit) {
	if d.Action != judge.Pass {
		return v
	}
	switch class := d.Agent.Class; {
	case class == crawler.Probe, class == crawler.Webhook && !q.Reads(), d.Claim.State == claim.Verified:
	case d.Reason == judge.Exempt, d.Reason == judge.ExemptPath, d.Reason == judge.Allowed, d.Reason == judge.Graced:
	case class != crawler.Person || d.Reason != judge.Person || len(q.UserAgents) != 1:
		v.kind = other
	case !q.Reads() || q.Authorized || isEmbedded(r):
		v.kind = file
	case !c.closes(&v, d.Rules, q):
		v.kind = elsewhere
	case !IsDocument(r):
		v.kind = file
	case !browser.IsBrowser(q.UserAgents[0]):
		v.kind = other
	default:
		v.kind = document
	}
	return v
}

// isBarePost reports whether a request changes something and has nothing that browsers
// send with it.
func isBarePost(q *judge.Request, r *http.Request) bool {
	return !q.Reads() && len(r.Header["Sec-Fetch-Site"]) == 0 && len(r.Header["Cookie"]) == 0
}

// isEmbedded reports whether Sec-Fetch-Dest says that a request is for no document. It is
// IsDocument for most requests, and costs less.
func isEmbedded(r *http.Request) bool {
	dest := r.Header["Sec-Fetch-Dest"]
	return len(dest) == 1 && dest[0] != "document"
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

// wants reports whether a request is for an embedded file of a kind.
func wants(r *http.Request, dest, media string) bool {
	if d := r.Header["Sec-Fetch-Dest"]; len(d) > 0 {
		return d[0] == dest
	}
	accept := r.Header["Accept"]
	return len(accept) > 0 && strings.HasPrefix(accept[0], media)
}
