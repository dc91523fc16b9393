package caddymodule

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
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
	now := x.request.Time.Add(d.Delay).UnixNano()
	rank, isRobot := h.shedOrder.RankOf(&x.request, d, x.visit.Suspect)
	entered := false
	if isRobot && d.Action == judge.Pass {
		if x.slot, entered = load.EnterRobot(now, rank); !entered {
			x.shed(d)
			d.RetryAfter = leastShedRetry + rand.N(mostShedRetry-leastShedRetry)
		}
	}
	if d.Action == judge.Pass || d.Monitored {
		if x.load = load; !entered {
			load.Enter(now)
		}
	}
	if load.IsBusy() {
		x.set(busyVar, true)
	}
}

// shed turns d into a decision to refuse the request because of the setting shed.
func (x *exchange) shed(d *judge.Decision) {
	d.Action, d.Reason, d.Layer, d.Line = judge.Throttle, judge.Shed, judge.ShedLayer, x.handler.Shed.Line
	d.Rule, d.Version, d.Reading = robots.Rule{}, nil, 0
}

// leave ends what enter began. It may be called again.
func (x *exchange) leave() {
	if x.load != nil {
		x.load.Leave(x.slot)
		x.load = nil
	}
}

// Answered implements response.Observer: the request is in flight no longer.
func (x *exchange) Answered(status int, header http.Header) {
	load := x.load
	x.leave()
	if load == nil || load.Latency == 0 || x.decision.Reason != judge.Person || x.visit.Suspect || status != http.StatusOK ||
		x.request.Method != http.MethodGet {
		return
	}
	const html = "text/html"
	if media := header["Content-Type"]; len(media) > 0 && len(media[0]) >= len(html) && strings.EqualFold(media[0][:len(html)], html) {
		load.ObservePage(x.request.Time.UnixNano(), clock.Now().UnixNano())
	}
}
