package step

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Sharer is a step through which several servers share what they count and know. Its methods
// are called after Join.
type Sharer interface {
	// Limiter returns the limiter for the budgets of the handler.
	Limiter() throttle.Limiter
	// Store returns what keeps sets that all servers know.
	Store() Store
}

// Store keeps sets that several servers share. Its methods wait until ctx ends. While the
// servers can't reach it, they return an error at once.
type Store interface {
	// Members returns the members of a set, the newest first, but no more than most.
	Members(ctx context.Context, set string, most int) ([]Member, error)
	// AddMembers adds members to a set. If there are more than most, it removes the oldest.
	AddMembers(ctx context.Context, set string, members []Member, most int) error
}

// Member is a member of a set.
type Member struct {
	Name string
	Time time.Time // by the clock of the server that added it, in whole seconds
}
