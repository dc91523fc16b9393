package challenge

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/response"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/media"
)

// pending is what is to be done when the answer to a request is known.
type pending struct {
	check   *Check
	storm   *Storm // nil if there is nothing to do
	now     uint32
	matches bool // the check is for the path
	proves  bool // the site knows the client, if it is served
	client  *memo
	cell    *cohortCell // of the User-Agent; nil for a client that names a crawler
	counted counted
	taken   [2]struct {
		bucket   *bucket
		interval time.Duration
	}

	head    response.Head
	reached bool // the request has reached the next handler
	status  int  // 0 if none was set
	media   media.Kind
	isHit   bool // a cache has answered
	isHead  bool
	target  string
}

// begin prepares End.
func (a *Arrival) begin(c *Check, s *Storm, q *judge.Request, r *http.Request, d *judge.Decision) {
	p := &a.pending
	p.check, p.storm, p.target, p.isHead = c, s, q.Target, q.Method == http.MethodHead
	p.matches, p.proves = c.closes(d.Rules, q), proves(q, r, d.Agent.Class)
}

// take takes a request of a bucket. It returns how long to wait if there is none.
func (p *pending) take(b *bucket, now time.Time, interval time.Duration, burst int) (wait time.Duration) {
	wait = b.take(now, interval, burst)
	if wait > 0 {
		return wait
	}
	i := 0
	if p.taken[0].bucket != nil {
		i = 1
	}
	p.taken[i].bucket, p.taken[i].interval = b, interval
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
func (p *pending) Reach(w http.ResponseWriter) http.ResponseWriter {
	if p.storm == nil {
		return w
	}
	p.reached = true
	return p.head.Watch(w, p)
}

// Answered implements response.Observer.
func (p *pending) Answered(status int, header http.Header) {
	p.status, p.media = status, media.Of(header.Get("Content-Type"))
	p.isHit = slices.ContainsFunc(header["Cache-Status"], func(field string) bool { return strings.Contains(field, "; hit") })
}

// End is called once for each request, when it has ended. What was no page is given back.
// returned says that the next handler has returned, with err. It reports whether that has taken
// the connection over, so that something may still use the ResponseWriter.
func (a *Arrival) End(returned bool, err error, r *http.Request) (taken bool) {
	p := &a.pending
	if p.storm == nil {
		return false
	}
	isComplete := returned && err == nil && r.Context().Err() == nil
	if e, ok := errors.AsType[caddyhttp.HandlerError](err); ok && p.status == 0 {
		isComplete, p.status = true, e.StatusCode
	}
	switch {
	case !p.reached || isComplete && p.isNone():
		p.giveBack()
	case p.counted.lone > 0 && p.media == media.Page:
		p.storm.keep(sample{p.target, a.bearer.userAgent})
	}
	if isComplete && !p.isHead {
		a.observe()
	}
	p.storm = nil
	return p.head.Hijacked
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
	return p.isHit || p.media != media.Page && p.media != media.Unknown
}

// observe notes what a client was served: pages, what they embed, and what proves that the
// site knows it.
func (a *Arrival) observe() {
	p := &a.pending
	unchanged := p.status == http.StatusNotModified && p.media == media.Unknown && media.OfTarget(p.target) == media.Embedded
	embeds := p.status < 300 && p.media == media.Embedded && media.OfTarget(p.target) != media.Other || unchanged
	if embeds {
		address, _ := p.check.memory.memo(a.group, p.now)
		p.storm.embeds(address, p.now)
	}
	if p.cell != nil && !p.matches && p.status < 300 && p.media == media.Page {
		p.cell.elsewhere.Add(1)
	}
	isKnown := embeds || p.proves && p.status < 300
	if isKnown && p.client != nil && !p.storm.on.Load() && !p.check.Always {
		p.client.known.Store(p.now)
	}
}
