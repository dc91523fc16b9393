package origins

import (
	"time"

	"github.com/caddy-robots/caddy-robots/internal/background"
)

// maxRetryAge is how long after the last request for an origin a failed fetch is
// tried again without a request.
const maxRetryAge = 24 * time.Hour

// plan plans the next fetch for e without a request: if the last one failed, so that
// the rules are in force soon after the source works again, even if no crawler comes;
// if a version is held; or if the file may have changed during the last fetch. Origins
// with an invented host are only fetched when a request comes. The caller holds e.mu.
func (p *Table) plan(e *entry) {
	if e.retry != nil {
		e.retry.Stop()
		e.retry = nil
	}
	if e.again {
		e.nextFetch.Store(min(e.nextFetch.Load(), e.lastFetch.Load()+int64(minRefetch)))
	}
	now := p.cfg.Now()
	failed := e.failures > 0 && now.Sub(time.Unix(0, e.used.Load())).Abs() <= maxRetryAge
	if !failed && e.held == nil && !e.again || e.invented.Load() || p.ctx.Err() != nil {
		return
	}
	wait := time.Duration(e.nextFetch.Load() - now.UnixNano())
	e.retry = background.After(max(wait, minRetryWait), "robots.txt: a planned read", func() { p.retry(e) })
}

// minRetryWait is the shortest time until a fetch that is planned.
const minRetryWait = 100 * time.Millisecond

// retry begins the fetch that was planned, unless another one has made it
// unnecessary.
func (p *Table) retry(e *entry) {
	p.mu.Lock()
	over := p.retired || e.gone
	p.mu.Unlock()
	if now := p.cfg.Now(); over || now.UnixNano() >= e.nextFetch.Load() && p.beginFetch(e, now, nil) != nil || e.fetching.Load() {
		return // at its end, a fetch that is under way plans the next one
	}
	e.mu.Lock()
	p.plan(e) // it is too early, or too many fetches are under way
	e.mu.Unlock()
}
