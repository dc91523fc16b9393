package live

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// refreshTimeout is the longest time for which Refresh waits for the sources.
const refreshTimeout = 30 * time.Second

// Refresh implements statusapi.Reporter.
func (r *Reporter) Refresh(ctx context.Context, scope statusapi.Scope, query statusapi.RefreshQuery) (*statusapi.Refresh, error) {
	wanted := make(map[*Handler]map[enforce.Origin]bool)
	for _, p := range r.inForce(scope) {
		if query.OriginID != "" && p.id != query.OriginID {
			continue
		}
		if wanted[p.Handler] == nil {
			wanted[p.Handler] = make(map[enforce.Origin]bool)
		}
		wanted[p.Handler][p.Origin] = true
	}
	if query.OriginID != "" && len(wanted) == 0 {
		return nil, errNoOrigin(query.OriginID, "")
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	answer := &statusapi.Refresh{Reads: []statusapi.Read{}}
	var mu sync.Mutex // guards answer
	var reading sync.WaitGroup
	for h, origins := range wanted {
		reading.Go(func() {
			unread := h.engine().Origins().Refresh(ctx, func(o enforce.Origin) bool { return origins[o] }, func(e enforce.FetchEvent) {
				read := h.readStatus(e)
				mu.Lock()
				defer mu.Unlock()
				answer.Reads = append(answer.Reads, read)
			})
			mu.Lock()
			defer mu.Unlock()
			answer.More += unread
		})
	}
	reading.Wait()
	if query.GraceOff { // after the reads, so that it also ends the grace of a change that they found
		for h, origins := range wanted {
			for origin := range origins {
				answer.Grace += h.engine().EndGrace(origin)
			}
		}
	}
	slices.SortFunc(answer.Reads, func(a, b statusapi.Read) int {
		return strings.Compare(a.Origin+" "+a.OriginID, b.Origin+" "+b.OriginID)
	})
	return answer, nil
}

// readStatus returns the result of a read.
func (h *Handler) readStatus(e enforce.FetchEvent) statusapi.Read {
	shared := !h.engine().Origins().PerOrigin()
	read := statusapi.Read{OriginID: h.originID(e.Origin, shared), State: e.Outcome.String(), Error: plainError(e.Err)}
	if !shared {
		read.Origin = e.Origin.String()
	}
	_, read.Message = metrics.ReadLevel(&e)
	return read
}
