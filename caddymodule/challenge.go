package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/challenge"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// suspectPassFor is how long a suspect that has pressed the button is left alone.
const suspectPassFor = 24 * time.Hour

// provisionChallenge sets up the settings challenge, and suspects with `action bind`, whose
// refusals have the same page.
func (h *Handler) provisionChallenge(ctx caddy.Context) error {
	binds := h.Suspects != nil && h.Suspects.Action == config.SuspectsBind
	if h.Challenge == nil && !binds {
		return nil
	}
	settings := challenge.Config{For: suspectPassFor, Page: challenge.Builtin()}
	if h.Challenge != nil {
		over, err := h.Challenge.Rate()
		if err != nil {
			return err
		}
		settings.Paths = fmt.Sprint(h.Challenge.Disallowed, h.Challenge.Paths, over.Requests, over.Per)
		settings.Over, settings.Window, settings.For = over.Requests, over.Per, h.Challenge.PassFor()
		if h.shedLoad != nil {
			settings.Busy = func() bool { return h.shedLoad().IsBusy() }
		}
	}
	for _, a := range h.Answers {
		if a.File == "" {
			settings.Mark = settings.Mark || a.Mark
			continue
		}
		text, err := os.ReadFile(a.File)
		if err == nil {
			settings.Page, err = challenge.NewPage(text)
		}
		if err != nil {
			return fmt.Errorf("answer challenge %s: %w", a.File, err)
		}
	}
	h.check = challenge.New(h.app.challenges(ctx, h.limiter), settings)
	return nil
}

// challenges returns the memory of the checks of all sites. After Start it exchanges its
// keys with the storage, and with the fleet, if there is one.
func (a *App) challenges(ctx caddy.Context, limiter throttle.Limiter) *challenge.Memory {
	reports := pooled(a, "challenge reports", func() *metrics.Challenges { return new(metrics.Challenges) })
	m := pooled(a, "challenge", func() *challenge.Memory { return challenge.NewMemory(reports) })
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.checks != nil
	a.checks = m
	if f, ok := limiter.(*shared.Fleet); ok && a.keyFleet == nil {
		a.keyFleet = f
	}
	if !known {
		a.onStart(func() {
			storage := a.storage(ctx)
			var fleet func() *throttle.Fleet
			if a.keyFleet != nil {
				fleet = a.keyFleet.Connected
			}
			reports.Start(a.log.Named("challenge"))
			a.background(func(ctx context.Context) { m.Run(ctx, storage, fleet) })
		})
	}
	return m
}

// strangerVar is the name of the request variable that is set for a stranger that goes on.
const strangerVar = "caddy_robots.stranger"

// check asks a stranger to show that it is a browser, and answers what comes back.
func (x *exchange) check(d *judge.Decision) {
	x.verdict = x.handler.check.Pace(&x.arrival, &x.request, x.r, d)
	switch x.verdict {
	case challenge.Stranger:
		x.set(strangerVar, true)
		if x.handler.check.Mark {
			x.verdict = challenge.Go
			return
		}
		d.Challenge(judge.Stranger, x.arrival.Wait())
	case challenge.TooMany:
		d.Challenge(judge.Strangers, x.arrival.Wait())
	}
}

// isChecked reports whether the check answers the request.
func (x *exchange) isChecked(d *judge.Decision) bool {
	switch x.verdict {
	case challenge.Go, challenge.TooMany:
		return false
	case challenge.Stranger:
		return d.Reason == judge.Stranger && !d.Monitored
	}
	return d.Action == judge.Pass || d.Monitored || d.Reason == judge.Suspected
}

// askSuspect refuses a suspect with the page that has the button, or with a text if the
// client takes no page.
func (x *exchange) askSuspect(w http.ResponseWriter) error {
	c := x.handler.check
	if !slices.ContainsFunc(x.r.Header["Accept"], func(accept string) bool { return strings.Contains(accept, mediaHTML) }) {
		w.Header()["Cache-Control"] = noStore
		return answers[judge.Suspected].send(w, x.r)
	}
	c.Ask(&x.arrival, x.request.Time)
	return c.Serve(w, challenge.Stranger, &x.arrival, &x.request, x.r, http.StatusForbidden)
}
