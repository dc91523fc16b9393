package challenge

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/media"
)

// Respond implements step.Responder.
func (c *Check) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	a := c.slot.Of(x)
	if a.storm == nil {
		return w
	}
	a.reached = true
	return a.head.Watch(w, a)
}

// Answered implements response.Observer. What is no page is given back.
func (a *Arrival) Answered(status int, header http.Header) {
	a.status, a.media = status, media.Of(header.Get("Content-Type"))
	isHit := slices.ContainsFunc(header["Cache-Status"], func(field string) bool { return strings.Contains(field, "; hit") })
	switch {
	case isHit, a.isNone():
		a.giveBack()
	case a.matches && a.media == media.Page && isPreflight(a.HTTP):
		a.storm.knowsNoCORS.Store(true)
	}
}

// End implements step.Ender.
func (c *Check) End(x *step.Exchange) {
	a := c.slot.Of(x)
	if a.storm == nil {
		return
	}
	if e, ok := errors.AsType[caddyhttp.HandlerError](x.Err); ok && a.status == 0 {
		a.Answered(e.StatusCode, nil)
	}
	isComplete := x.Returned && x.Err == nil && x.HTTP.Context().Err() == nil
	if !a.reached {
		a.giveBack()
	}
	if a.media == media.Page && (a.counted.visitor != nil || a.cell != nil && !a.matches) {
		a.storm.keep(&a.storm.latest, a)
	}
	if isComplete && x.Request.Method != http.MethodHead {
		a.observe()
	}
	a.storm = nil
	x.Taken = x.Taken || a.head.Hijacked
}

// isNone reports whether an answer is no page.
func (a *Arrival) isNone() bool {
	switch {
	case a.status == http.StatusSwitchingProtocols, a.status >= 400 && a.status < 500:
		return true
	case a.status == http.StatusNotModified:
		return media.OfTarget(a.Request.Target) == media.Embedded
	case a.Request.Method == http.MethodHead, a.status >= 500:
		return false
	case a.status >= 300, a.status == http.StatusNoContent:
		return true
	}
	return a.media != media.Page && a.media != media.Unknown
}

// visits counts an address as a visitor of other pages than the stormed ones, once a day.
func (a *Arrival) visits() {
	if v := a.ofAddress(); !v.visited.isRecent(a.now) {
		v.visited.Store(a.now)
		one, other := a.storm.cohorts.visitorsWith(a.bearer.userAgent[:min(len(a.bearer.userAgent), maxKept)])
		one.Add(1)
		other.Add(1)
	}
}

// observe notes what a client was served: pages, what they embed, and what proves that the
// site knows it.
func (a *Arrival) observe() {
	hint := media.OfTarget(a.Request.Target)
	embeds := a.status < 300 && a.media == media.Embedded && hint != media.Other ||
		a.status == http.StatusNotModified && a.media == media.Unknown && hint == media.Embedded
	if embeds {
		a.storm.embeds(a.ofAddress(), a.now)
		if a.check.page == nil { // on all pages; so those who fetch what they embed count as their visitors
			a.visits()
		}
	}
	isPage := a.status < 300 && a.media == media.Page
	if isPage && !a.matches && a.cell != nil {
		a.cell.elsewhere.Add(1)
		a.visits()
	}
	isKnown := embeds || a.proves && a.status < 300
	if isKnown && a.cell != nil && a.check.page != nil && !a.storm.on.Load() && !a.check.always {
		a.ofClient().known.Store(a.now)
	}
}
