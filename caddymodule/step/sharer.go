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

// Store keeps what several servers share: sets, and texts of each of them. Its methods wait until ctx ends. While the
// servers can't reach it, they return an error at once.
type Store interface {
	// Members returns the members of a set, the newest first, but no more than most.
	Members(ctx context.Context, set string, most int) ([]Member, error)
	// AddMembers adds members to a set. If there are more than most, it removes the oldest.
	AddMembers(ctx context.Context, set string, members []Member, most int) error
	// Exchange keeps a text of one server for the others, for some time, and calls each with those
	// of all, the newest first, but no more than most.
	Exchange(ctx context.Context, set, server string, text []byte, keep time.Duration, most int, each func(text []byte)) error
}

// Member is a member of a set.
type Member struct {
	Name string
	Time time.Time // by the clock of the server that added it, in whole seconds
}
