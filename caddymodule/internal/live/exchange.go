package live

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

// The servers of a fleet tell each other their counts soon after each minute. What a server has
// told counts for exchangeKept, and a fleet has maxServers.
const (
	exchangeAfter   = 2 * time.Second
	exchangeAgain   = 5 * time.Second // after a failure
	exchangeTimeout = 20 * time.Second
	exchangeKept    = 3 * time.Minute
	maxServers      = 50
)

// Exchange exchanges the counts with the other servers of the fleets, until ctx ends.
func (r *Reporter) Exchange(ctx context.Context) {
	for {
		err := r.exchange(ctx)
		now := r.app.Now()
		pause := now.Truncate(time.Minute).Add(time.Minute + exchangeAfter).Sub(now)
		if err != nil { // that Redis is away is a problem of the step
			pause = min(pause, exchangeAgain)
			r.app.Log.Debug("the counts of the other servers of the fleet are not known", zap.Error(err))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// exchange is Exchange for one minute. Each fleet knows its own sites alone.
func (r *Reporter) exchange(running context.Context) (failed error) {
	ctx, cancel := context.WithTimeout(running, exchangeTimeout)
	defer cancel()
	sites := make(map[step.Store][]string)
	for _, h := range r.handlers() {
		if h.Sharer != nil {
			sites[h.Sharer.Store()] = append(sites[h.Sharer.Store()], h.Hosts...)
		}
	}
	var list []*counters.Others
	for store, hosts := range sites {
		scope := statusapi.Sites(hosts...)
		server, text, err := r.app.Counters.Share(scope)
		others := r.app.Counters.NewOthers(scope)
		if err == nil {
			err = store.Exchange(ctx, "counts", server, text, exchangeKept, maxServers, others.Add)
		}
		failed = cmp.Or(failed, err)
		if err == nil {
			list = append(list, others)
		}
	}
	if running.Err() == nil { // the next configuration may have set them
		r.app.Counters.SetOthers(list)
	}
	return failed
}
