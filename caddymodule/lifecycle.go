package caddymodule

import (
	"context"
	"errors"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/background"
)

// cleanups are called when a configuration is cleaned up, from the last to the first.
type cleanups []func() error

// onCleanup adds one.
func (c *cleanups) onCleanup(release func() error) { *c = append(*c, release) }

// Cleanup implements caddy.CleanerUpper. Caddy also calls it if Provision failed.
func (c *cleanups) Cleanup() error {
	var errs []error
	for _, release := range slices.Backward(*c) {
		errs = append(errs, release())
	}
	*c = nil
	return errors.Join(errs...)
}

// lifecycle has what begins and ends with the app.
type lifecycle struct {
	cleanups
	starts  []func() // called by Start
	stops   []func() // called by Stop, from the last to the first
	started bool
}

// onStart registers start to be called when the app starts, or calls it at once
// if the app has started.
func (l *lifecycle) onStart(start func()) {
	if l.started {
		start()
		return
	}
	l.starts = append(l.starts, start)
}

// onStop registers stop to be called when the app stops.
func (l *lifecycle) onStop(stop func()) { l.stops = append(l.stops, stop) }

// stop calls what is to be called when the app stops.
func (l *lifecycle) stop() {
	for _, stop := range slices.Backward(l.stops) {
		stop()
	}
	l.stops = nil
}

// background runs a function until the app stops. what names it in reports.
func (l *lifecycle) background(what string, run func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	var ended background.Group
	ended.Keep(ctx.Done(), what, func() { run(ctx) })
	l.onStop(func() { stop(); ended.Wait() })
}
