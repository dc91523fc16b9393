package origins

import (
	"context"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// Refresh fetches the file again for each origin for which selected returns
// true. It calls report with each result, one call at a time. If a fetch is
// already under way, another one follows it, because the first may have begun
// too early. The caller asks for what the files are now: a version that opens paths
// counts at once, but not one that ends within a line (see Response.Whole); Refresh
// waits until that one counts. Refresh returns when all fetches have ended or ctx ends, with the
// number of files that it has not fetched.
func (p *Table) Refresh(ctx context.Context, selected func(judge.Origin) bool, report func(FetchEvent)) (left int) {
	var calling sync.Mutex
	fetching := background.AtMost(maxFetches / 6) // leaves room for other fetches
	for e := range p.table.all() {
		if !selected(e.origin) {
			continue
		}
		calling.Lock()
		left++
		calling.Unlock()
		fetching.Go("robots.txt: a refresh", func() {
			if ev, ok := p.refresh(ctx, e); ok {
				calling.Lock()
				defer calling.Unlock()
				left--
				report(ev)
			}
		})
	}
	fetching.Wait()
	return left
}

// refreshPause is how long Refresh waits before it tries again to begin a fetch.
const refreshPause = 20 * time.Millisecond

// refresh fetches the file of one origin again and waits for it.
func (p *Table) refresh(ctx context.Context, e *entry) (ev FetchEvent, ok bool) {
	pause := time.NewTicker(refreshPause)
	defer pause.Stop()
	for ctx.Err() == nil && p.ctx.Err() == nil {
		e.mu.Lock()
		latest, known := e.latest, e.cause != nil || !p.source.PerOrigin()
		e.mu.Unlock()
		switch {
		case !known:
			return ev, false // never fetched, so there is no context for the source
		case e.fetching.Load() && latest != nil:
			await(ctx, p, latest.ended)
			continue
		}
		e.mu.Lock()
		e.sure = true
		e.mu.Unlock()
		f := p.beginFetch(e, p.cfg.Now(), nil)
		if f == nil { // too many others are under way
			await(ctx, p, pause.C)
			continue
		}
		await(ctx, p, f.ended)
		select {
		case <-f.ended:
			if !f.event.Held {
				return f.event, f.ok
			}
			await(ctx, p, time.After(time.Unix(0, e.nextFetch.Load()).Sub(p.cfg.Now())))
		default:
		}
	}
	return ev, false
}
