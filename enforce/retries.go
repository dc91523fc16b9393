package enforce

import (
	"context"
	"time"
)

// maxRetryAge is how long after the last request for an origin a failed read is
// tried again without a request.
const maxRetryAge = 24 * time.Hour

// planRetry plans the next read of e if the last one failed, so that the rules are
// in force soon after the source works again, even if no crawler comes. Origins
// with an invented host are only read when a request comes. The caller holds
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

// minRetryWait is the shortest time until a read that is planned.
const minRetryWait = 100 * time.Millisecond

// retry begins the read that planRetry has planned, unless another read has made
// it unnecessary.
func (p *Origins) retry(e *entry) {
	p.mu.Lock()
	over := p.retired || e.gone
	p.mu.Unlock()
	now := p.cfg.Now()
	if over || e.fetching.Load() || now.UnixNano() < e.nextFetch.Load() {
		return
	}
	e.mu.Lock()
	cause := e.cause
	e.mu.Unlock()
	if !p.beginFetch(&Request{Origin: e.origin, Time: now, Caller: refetchCaller{cause}}, e, nil) && !e.fetching.Load() {
		e.mu.Lock()
		p.planRetry(e) // too many reads are under way
		e.mu.Unlock()
	}
}

// Prefetch reads the source for r's origin if p has no policy for it, and waits
// until the read ends or ctx ends. It is for origins that will have requests,
// so that the first one does not have to wait.
func (p *Origins) Prefetch(ctx context.Context, r *Request) {
	e := p.find(r)
	if e.rules.Load() != nil || !p.beginFetch(r, e, nil) {
		return
	}
	e.mu.Lock()
	ended := e.ended
	e.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
	case <-p.ctx.Done():
	}
}
