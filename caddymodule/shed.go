package caddymodule

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// provisionShed sets up the setting shed. The Load outlives a reload with equal
// settings; the number of Loads is bounded by the configurations that were loaded.
// The place of the handler is known only when a request comes.
func (h *Handler) provisionShed() {
	if h.Shed == nil {
		return
	}
	h.shedOrder = h.Shed.Order()
	cfg := shed.Config{InFlight: h.Shed.InFlight, Latency: time.Duration(h.Shed.Latency), Steps: len(h.shedOrder.Steps)}
	h.shedLoad = sync.OnceValue(func() *shed.Load {
		key := fmt.Sprint(h.app.siteOf(h).Key, cfg, h.shedOrder.Steps)
		load, _ := h.app.loads.LoadOrStore(key, shed.New(cfg))
		return load.(*shed.Load)
	})
}

// Robots are asked to come back after a time between these. It differs for each
// request, so that they do not all come back at once.
const (
	leastShedRetry = 15 * time.Second
	mostShedRetry  = 45 * time.Second
)

// busyVar is the name of the request variable that is set while the server is busy.
const busyVar = "caddy_robots.busy"

// enter counts a request that is let through, and one that is only monitored, as
// in flight. If it is a robot's, and the server is busy, enter refuses it.
func (x *exchange) enter(d *judge.Decision) {
	h, load := x.handler, x.handler.shedLoad()
	now := x.request.Time.UnixNano()
	rank, isRobot := h.shedOrder.RankOf(&x.request, d)
	entered := false
	if isRobot && d.Action == judge.Pass {
		if x.place, entered = load.EnterRobot(now, rank); !entered {
			x.shed(d)
			d.RetryAfter = leastShedRetry + rand.N(mostShedRetry-leastShedRetry)
		}
	}
	if d.Action == judge.Pass || d.Monitored {
		if x.load = load; !entered {
			x.enterOther(load, now)
		}
	}
	if load.IsBusy() {
		x.set(busyVar, true)
	}
}

// enterOther counts a request that is not a robot's.
func (x *exchange) enterOther(load *shed.Load, now int64) {
	r := x.r
	entry := shed.Request{Now: now, Number: x.number}
	if r.ContentLength != 0 && r.Body != nil {
		x.upload = load.Upload(r.Body)
		r.Body, entry.Upload = x.upload, x.upload
	}
	if entry.Document = load.Latency > 0 && x.isDocument(); entry.Document {
		entry.Client = shed.ClientOf(&x.request)
	}
	x.place = load.Enter(entry)
}

// isDocument reports whether a person waits for a document: not for what a page
// fetches, which may be a long poll or a stream of events. An unknown length is that of
// requests without a body in HTTP/3.
func (x *exchange) isDocument() bool {
	r := x.r
	if x.decision.Reason != judge.Person || r.Method != http.MethodGet || r.ContentLength > 0 {
		return false
	}
	if mode := r.Header["Sec-Fetch-Mode"]; len(mode) > 0 {
		return mode[0] == "navigate"
	}
	return slices.ContainsFunc(r.Header["Accept"], func(accept string) bool { return strings.Contains(accept, mediaHTML) })
}

const mediaHTML = "text/html"

// shed turns d into a decision to refuse the request because of the setting shed.
func (x *exchange) shed(d *judge.Decision) {
	d.Action, d.Reason, d.Layer, d.Line = judge.Throttle, judge.Shed, judge.ShedLayer, x.handler.Shed.Line
	d.Rule, d.Version, d.Reading = robots.Rule{}, nil, 0
}

// leave ends what enter began. It may be called again.
func (x *exchange) leave() {
	if x.load != nil {
		x.upload.End()
		x.load.Leave(x.place)
		x.load = nil
	}
}

// Answered implements response.Observer: the request is in flight no longer.
func (x *exchange) Answered(status int, header http.Header) {
	load, isOpen := x.load, x.upload.IsOpen()
	x.leave()
	if load == nil || load.Latency == 0 || x.decision.Reason != judge.Person || status != http.StatusOK ||
		x.request.Method != http.MethodGet || isOpen || x.r.ContentLength > 0 {
		return
	}
	const html = mediaHTML
	if media := header["Content-Type"]; len(media) > 0 && len(media[0]) >= len(html) && strings.EqualFold(media[0][:len(html)], html) {
		load.ObservePage(x.request.Time.UnixNano(), clock.Now().UnixNano())
	}
}

// warnSlowReaders warns once for a server if nothing ends the requests of clients that
// take their answers slowly, and that are counted as in flight until then.
func (h *Handler) warnSlowReaders(ctx caddy.Context) {
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	counts := slices.ContainsFunc(h.Limits, func(l config.Limit) bool { return l.AtOnce > 0 || l.EachAtOnce > 0 })
	if server == nil || !counts || server.WriteIdleTimeout > 0 || server.WriteMinRate > 0 {
		return
	}
	if _, warned := h.app.placesOf.LoadOrStore(&server.WriteMinRate, true); !warned {
		h.log.Warn("at_once: a client that reads its answer slowly holds its turn: set `write_idle 20s` in the timeouts of the server")
	}
}
