package caddymodule

import (
	"context"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/live"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// eventPrefix begins the names of events.
const eventPrefix = "robots_"

const (
	// newsEvery is the time between two looks for accidents, besides those after a
	// robots.txt has changed.
	newsEvery = 5 * time.Second
	// newsPause is the time between two looks, as a multiple of the first one's:
	// after a start, the files of many sites change one after another.
	newsPause = 100
	// newsBegin is the time between two looks whether Caddy has started.
	newsBegin = 20 * time.Millisecond
	// newsPatience is how long Stop waits for the handlers of an event, because a
	// reload must not wait for a handler that never ends.
	newsPatience = 5 * time.Second
)

// announceAccidents logs accidents and emits their events, until the app stops.
// Caddy calls the handlers of an event one after another, so they have a goroutine
// of their own. There is no news before Caddy has emitted its event started, and
// none after a later configuration has started.
func (a *App) announceAccidents() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	background.Go("events", func() {
		defer close(ended)
		background.Keep(ctx.Done(), "events", func() { a.announceUntil(ctx) })
	})
	a.onStop(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(newsPatience):
		}
	})
	a.onStop(a.report.Report())
}

// announceUntil announces accidents until ctx ends.
func (a *App) announceUntil(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		for ctx.Err() == nil { // looked at first: news are told once
			news, ok := a.report.News()
			if !ok {
				break
			}
			a.announce(&news)
		}
		rested := time.Now().Add(newsPause * time.Since(began))
		pause := newsBegin
		if a.isActive() {
			pause = newsEvery
		}
		select {
		case <-time.After(pause):
			continue
		case <-a.changed:
		case <-ctx.Done():
		}
		select {
		case <-time.After(time.Until(rested)):
		case <-ctx.Done():
		}
	}
}

// isActive reports whether the app is that of the last configuration that was
// loaded, and all its apps have started.
func (a *App) isActive() bool {
	running, err := runningApp()
	return err == nil && running == a
}

// fetched returns what the engine calls after each fetch of a robots.txt.
func (h *Handler) fetched(observer *metrics.Reads) func(origins.FetchEvent) {
	return func(e origins.FetchEvent) {
		observer.Fetched(e)
		if !e.Changed {
			return
		}
		select {
		case h.app.changed <- struct{}{}:
		default: // the goroutine will look anyway
		}
	}
}

// announce logs news about an accident and emits its event. A handler may run a
// command with the data, so the data has no text of clients or of a robots.txt.
func (a *App) announce(news *live.News) {
	site := strings.TrimSuffix(news.Sites[0], statusapi.AnySite)
	data := map[string]any{
		"state": news.State, "site": site, "crawler": news.Crawler, "cause": news.Cause, "line": news.Line,
		"before": news.Before, "now": news.Now, "since": news.Since.UTC().Format(time.RFC3339),
		"what": news.What, "advice": news.Advice, "pattern": news.Pattern, "fresh": news.Fresh,
	}
	fields := []zap.Field{zap.String("kind", news.Kind), zap.String("site", site), zap.String("crawler", news.Crawler),
		zap.String("cause", news.Cause), zap.Int("line", news.Line), zap.Timep("since", news.Since),
		zap.String("what", metrics.Clip(news.Message))}
	switch news.State {
	case live.Begins:
		a.log.Warn("an accident began", fields...)
	case live.Changes:
		a.log.Warn("an accident has another crawler or cause", fields...)
	case live.Worsens:
		a.log.Warn("an accident got worse", fields...)
	default:
		a.log.Info("an accident ended", fields...)
	}
	_ = background.Run("a handler of the event "+eventPrefix+news.Kind, func() {
		if events, err := a.ctx.AppIfConfigured("events"); err == nil {
			events.(*caddyevents.App).Emit(a.ctx, eventPrefix+news.Kind, data)
		}
	})
}
