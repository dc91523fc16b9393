package origins

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// entry is the record of one origin.
type entry struct {
	origin        judge.Origin
	pending       *judge.Rules // in force until there are rules
	evicted       bool         // an earlier entry of the origin was evicted
	rules         atomic.Pointer[judge.Rules]
	history       atomic.Pointer[History] // nil if the origin has had no version
	historyJoined atomic.Bool             // the history of an earlier configuration was looked for
	invented      atomic.Bool             // a client may have invented the host
	used          atomic.Int64            // when the entry was last used; all times are in nanoseconds since 1970
	nextFetch     atomic.Int64            // when the next fetch is due
	lastFetch     atomic.Int64            // when the last fetch began
	fetching      atomic.Bool             // whether a fetch is under way
	waiting       atomic.Int64            // how many requests wait for rules

	mu       sync.Mutex
	good     goodCopy
	last     judge.Outcome   // of the last fetch
	tried    bool            // whether a fetch has ended
	failures int             // how many of the latest fetches in a row failed
	failing  time.Time       // when the first of them began
	err      error           // why the last fetch failed; nil if it did not
	cause    context.Context // context of the last fetch, for further ones of the same origin; nil before the first
	latest   *fetch          // under way; nil without
	held     *candidate      // nil without a version that does not count yet
	sure     bool            // whether the operator asks for the next fetch
	again    bool            // whether another fetch must follow the one under way
	retry    *time.Timer     // begins the next fetch without a request; nil if none is planned
	gone     bool            // the entry was evicted
}
