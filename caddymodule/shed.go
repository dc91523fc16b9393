package caddymodule

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
	h.shedPlace = h.Shed.Place()
	cfg := shed.Config{InFlight: h.Shed.InFlight}
	h.shedLoad = sync.OnceValue(func() *shed.Load {
		key := fmt.Sprint(h.app.siteOf(h).Key, cfg)
		load, _ := h.app.loads.LoadOrStore(key, shed.New(cfg))
		return load.(*shed.Load)
	})
	h.features = append(h.features, shed.Feature(h.shedLoad))
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
	load := x.handler.shedLoad()
	now := x.request.Time.UnixNano()
	rank, isRobot := shed.RankOf(&x.request, d)
	entered := false
	if isRobot && d.Action == judge.Pass {
		if x.place, entered = load.EnterRobot(now, rank); !entered {
			d.Refuse(shed.Reason, x.handler.shedPlace, leastShedRetry+rand.N(mostShedRetry-leastShedRetry))
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
	if r.ContentLength != 0 && r.Body != nil {
		x.upload = load.Upload(r.Body)
		r.Body = x.upload
	}
	x.place = load.Enter(now)
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
	x.leave()
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
