package challenge

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// media is what a response has, for a check.
type media uint8

const (
	untyped media = iota
	htmlMedia
	embeddable // what pages embed, but for icons: browsers fetch them without a page
	otherMedia
)

// mediaOf returns what a response with a Content-Type has.
func mediaOf(types []string) media {
	if len(types) == 0 || types[0] == "" {
		return untyped
	}
	kind := strings.ToLower(types[0])
	switch {
	case strings.HasPrefix(kind, "text/html"), strings.HasPrefix(kind, "application/xhtml+xml"):
		return htmlMedia
	case strings.HasPrefix(kind, "image/") && !strings.Contains(kind, "icon"), strings.HasPrefix(kind, "text/css"),
		strings.HasPrefix(kind, "font/"), strings.HasPrefix(kind, "application/font"), strings.Contains(kind, "javascript"):
		return embeddable
	}
	return otherMedia
}

// pending is what is to be done when the answer to a request is known.
type pending struct {
	check   *Check
	storm   *stormAt // nil if there is nothing to do
	now     uint32
	matches bool // the check is for the path
	proves  bool // the site knows the client, if it is served
	client  *client
	cell    *cohortCell // of the User-Agent; nil for a client that names a crawler
	counted counted
	taken   [2]struct {
		bucket   *bucket
		interval time.Duration
	}

	head     response.Head
	reached  bool // the request has reached the next handler
	complete bool // the answer is known as a whole
	status   int  // 0 if none was set
	media    media
	isHit    bool // a cache has answered
	isHead   bool
	target   string
	dest     string // Sec-Fetch-Dest
}

// begin prepares End.
func (a *Arrival) begin(c *Check, s *stormAt, q *judge.Request, r *http.Request, d *judge.Decision) {
	p := &a.pending
	p.check, p.storm, p.now = c, s, uint32(q.Time.Unix())
	p.matches, p.proves = c.closes(d.Rules, q), proves(q, r, d.Agent.Class)
	p.isHead, p.target = q.Method == http.MethodHead, q.Target
	if dest := r.Header["Sec-Fetch-Dest"]; len(dest) > 0 {
		p.dest = dest[0]
	}
}

// take takes a request of a bucket. It returns how long to wait if there is none.
func (p *pending) take(b *bucket, now time.Time, interval time.Duration, burst int) (wait time.Duration) {
	wait = b.take(now, interval, burst)
	if wait > 0 {
		return wait
	}
	for i := range p.taken {
		if t := &p.taken[i]; t.bucket == nil {
			t.bucket, t.interval = b, interval
			break
		}
	}
	return 0
}

// giveBack takes back what a request counts as a page.
func (p *pending) giveBack() {
	for i := range p.taken {
		if t := &p.taken[i]; t.bucket != nil {
			t.bucket.giveBack(t.interval)
			t.bucket = nil
		}
	}
	p.storm.giveBack(&p.counted)
}

// Reach returns the ResponseWriter for the next handler, when a request reaches it.
func (a *Arrival) Reach(w http.ResponseWriter) http.ResponseWriter {
	if a.storm == nil {
		return w
	}
	a.reached = true
	return a.head.Watch(w, a)
}

// Answered implements response.Observer.
func (a *Arrival) Answered(status int, header http.Header) {
	a.status, a.media = status, mediaOf(header["Content-Type"])
	if a.renews && keepsApart(header["Cache-Control"]) {
		header.Add("Set-Cookie", a.check.renewed(a).String())
	}
	a.isHit = slices.ContainsFunc(header["Cache-Status"], func(field string) bool { return strings.Contains(field, "; hit") })
}

// keepsApart reports whether no shared cache may store a response.
func keepsApart(control []string) bool {
	return slices.ContainsFunc(control, func(field string) bool {
		return strings.Contains(field, "private") || strings.Contains(field, "no-store")
	})
}

// Done notes that the next handler has returned, or that it was not called or panicked. It
// reports whether it has taken the connection over, so that something may still use the
// ResponseWriter.
func (a *Arrival) Done(returned bool, err error, r *http.Request) (taken bool) {
	a.complete = returned && err == nil && r.Context().Err() == nil
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok && a.status == 0 {
		a.complete, a.status = true, e.StatusCode
	}
	return a.head.Hijacked
}

// End is called once for each request, when it has ended. What was no page is given back.
func (a *Arrival) End() {
	p := &a.pending
	if p.storm == nil {
		return
	}
	if !p.reached || p.complete && p.isNone() {
		p.giveBack()
	}
	if p.complete && p.client != nil && !p.isHead {
		a.observe()
	}
	p.storm = nil
}

// isNone reports whether a complete answer is no page.
func (p *pending) isNone() bool {
	switch {
	case p.status == http.StatusSwitchingProtocols, p.status >= 400 && p.status < 500:
		return true
	case p.isHead, p.status == http.StatusNotModified, p.status == http.StatusPartialContent, p.status >= 500:
		return false
	case p.status >= 300, p.status == http.StatusNoContent:
		return true
	}
	return p.isHit || p.media != htmlMedia && p.media != untyped
}

// observe notes what a client was served: pages, what they embed, and what proves that the
// site knows it.
func (a *Arrival) observe() {
	p, s := &a.pending, a.storm
	unchanged := p.status == http.StatusNotModified
	served := p.status < 300 || unchanged
	isPage := served && (p.media == htmlMedia || unchanged && p.media == untyped && (p.dest == "" || p.dest == "document") && !isFile(p.target))
	embeds := served && !isIcon(p.target) && (p.media == embeddable || unchanged && p.media == untyped && isFile(p.target))
	isOff := !s.on.Load() && !p.check.Always
	if isPage || embeds {
		if embeds {
			group, _ := p.check.memory.visitor(a.group, p.now)
			s.embeds(group, p.now)
		}
		if embeds || !p.matches {
			network, _ := p.check.memory.visitor(a.place, p.now)
			network.visit(&s.networks, embeds)
		}
	}
	c := p.client
	switch {
	case !isOff:
	case embeds:
		c.embedded.Store(p.now)
	case isPage:
		c.page.Store(p.now)
	}
	if isPage && !p.matches && p.cell != nil {
		p.cell.elsewhere.Add(1)
	}
	if isOff && p.proves && p.status < 300 {
		c.served.Store(p.now)
	}
}

// isFile reports whether a target is that of a file that pages embed.
func isFile(target string) bool {
	name, _, _ := strings.Cut(target, "?")
	return slices.Contains([]string{".css", ".js", ".mjs", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".woff", ".woff2"}, path.Ext(name))
}

// isIcon reports whether a target is that of a site's icon, which browsers fetch without a
// page.
func isIcon(target string) bool {
	name, _, _ := strings.Cut(target, "?")
	return strings.HasPrefix(path.Base(name), "favicon")
}
