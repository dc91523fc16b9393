package caddymodule

import (
	"context"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/challenge"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/localfile"
)

// provisionChallenge sets up the setting challenge. Without it, a part of the addresses is
// watched, so that the operator hears of a storm.
func (h *Handler) provisionChallenge(ctx caddy.Context) error {
	if h.Challenge == nil {
		if h.AskedBy() == "" {
			h.watch = challenge.New(h.app.checks, challenge.Config{Name: "watch", Over: watchedOver, Window: time.Minute, Watches: true})
		}
		return nil
	}
	over, err := h.Challenge.Rate()
	if err != nil {
		return err
	}
	trap, err := h.Challenge.TrapFolder()
	if err != nil {
		return err
	}
	line := h.Challenge.Engine()
	settings := challenge.Config{Name: line.String(), Over: over.Requests, Window: over.Per, For: h.Challenge.PassFor(), Trap: trap,
		Always: config.On(h.Challenge.Always),
		Page:   challenge.Builtin()}
	if len(h.steps.busy) > 0 {
		settings.Busy = h.steps.areBusy
	}
	for _, a := range h.Answers {
		if settings.Mark = settings.Mark || a.Mark; a.File == "" {
			continue
		}
		file, err := config.Resolve("answer challenge", a.File)
		if err != nil {
			return err
		}
		text, err := localfile.Read(file)
		if err == nil {
			settings.Page, err = challenge.NewPage(text)
		}
		if err != nil {
			return config.InOption("answer challenge", fmt.Errorf("%s: %w", file, err))
		}
	}
	h.check = challenge.New(h.app.checks, settings)
	if h.steps.sharer != nil && h.app.keyStore == nil {
		h.app.keyStore = h.steps.sharer.Store()
	}
	h.app.keepKeys(ctx)
	return nil
}

// Of the addresses, one in live.WatchedShare is watched: those of which the text ends with
// an odd digit and a 7.
const watchedOver = 10 // pages a minute

func isWatched(addr string) bool {
	n := len(addr)
	return n > 1 && addr[n-1] == '7' && addr[n-2]&1 == 1
}

// keepKeys makes the app exchange the keys of passes, after Start, with the storage and with
// what other servers share.
func (a *App) keepKeys(ctx caddy.Context) {
	if a.keepsKeys {
		return
	}
	a.keepsKeys = true
	a.onStart(func() {
		storage := a.storage(ctx)
		a.checkReports.Start(a.log.Named("challenge"))
		a.background("challenge", func(ctx context.Context) { a.checks.Run(ctx, storage, a.keyStore) })
	})
}

// strangerVar is the name of the request variable that is set for a stranger that goes on.
const strangerVar = "caddy_robots.stranger"

// watchStorms looks for a storm on a site without the setting challenge.
func (x *exchange) watchStorms(d *judge.Decision) {
	if isWatched(x.Request.Client) {
		x.handler.watch.Watch(&x.arrival, &x.Request, x.HTTP, d)
	}
}

// check asks a stranger to show that it is a browser, and answers what comes back.
func (x *exchange) check(d *judge.Decision) {
	x.verdict = x.handler.check.Pace(&x.arrival, &x.Request, x.HTTP, d)
	switch x.verdict {
	case challenge.Stranger:
		x.set(strangerVar, true)
		if x.handler.check.Mark {
			x.verdict = challenge.Go
			return
		}
		d.Refuse(challenge.Asked, d.Rules.Settings().Challenge.Place, x.arrival.Wait())
	case challenge.TooMany:
		d.Refuse(challenge.HeldUp, d.Rules.Settings().Challenge.Place, x.arrival.Wait())
	}
}

// isChecked reports whether the check answers the request.
func (x *exchange) isChecked(d *judge.Decision) bool {
	switch x.verdict {
	case challenge.Go, challenge.TooMany:
		return false
	case challenge.Stranger:
		return d.Reason == challenge.Asked && !d.Monitored
	}
	return d.Action == judge.Pass || d.Monitored
}
