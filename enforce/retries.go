package enforce

import "time"

// maxRetryAge is how long after the last request for an origin a failed fetch is
// tried again without a request.
const maxRetryAge = 24 * time.Hour

// planRetry plans the next fetch for e if the last one failed, so that the rules are
// in force soon after the source works again, even if no crawler comes. Origins
// with an invented host are only fetched when a request comes. The caller holds
// e.mu.
func (p *Origins) planRetry(e *entry) {
	if e.retry != nil {
		e.retry.Stop()
		e.retry = nil
	}
	now := p.cfg.Now()
	if e.failures == 0 || e.invented.Load() || p.ctx.Err() != nil || now.Sub(time.Unix(0, e.used.Load())) > maxRetryAge {
		return
	}
	wait := time.Duration(e.nextFetch.Load() - now.UnixNano())
	e.retry = time.AfterFunc(max(wait, minRetryWait), func() { p.retry(e) })
}

// minRetryWait is the shortest time until a fetch that is planned.
const minRetryWait = 100 * time.Millisecond

// retry begins the fetch that planRetry has planned, unless another one has made
// it unnecessary.
func (p *Origins) retry(e *entry) {
	p.mu.Lock()
	over := p.retired || e.gone
	p.mu.Unlock()
	now := p.cfg.Now()
	if over || e.fetching.Load() || now.UnixNano() < e.nextFetch.Load() {
		return
	}
	if p.beginFetch(e, now, nil) == nil && !e.fetching.Load() {
		e.mu.Lock()
		p.planRetry(e) // too many fetches are under way
		e.mu.Unlock()
	}
}
