package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// The values of Suspects.Action.
const (
	SuspectsObserve = "observe"
	SuspectsBind    = "bind"
)

var suspectActions = choices{SuspectsObserve, SuspectsBind}

// Bounds of Suspects.
const (
	leastFor = time.Minute
	mostFor  = suspect.Remember
	maxTraps = 16
)

// Suspects finds clients that send a browser's User-Agent and behave like
// robots.
//
// A client here is an IP address together with its whole User-Agent. It becomes a suspect
// after two independent signals within 24 hours, one of them strong, such as a request for
// a trap URL that the site sent to the same address.
type Suspects struct {
	// Paths of traps, at most 16. A trap is used while every group of robots.txt
	// disallows it. The placeholder `{http.robots.trap}` is a URL below the first path:
	// put it into a link that people don't see. Default: none.
	Trap []string `json:"trap,omitempty"`

	// `observe`: suspects are only shown. `bind`: the path rules of `*` also apply to
	// them, but not its limits; a refused suspect gets 403 with a page that gives the
	// reason and has a button for people. Default: `observe`.
	Action string `json:"action,omitempty"`

	// How long a client stays a suspect after its last signal, from 1m to 24h.
	// Default: 1h.
	For caddy.Duration `json:"for,omitempty"`
}

// check returns an error for values that can't be used. A nil s has none.
func (s *Suspects) check() error {
	if s == nil {
		return nil
	}
	if f := time.Duration(s.For); f != 0 && (f < leastFor || f > mostFor) {
		return fmt.Errorf("suspects for %s is not between %s and %s", f, leastFor, mostFor)
	}
	if len(s.Trap) > maxTraps {
		return fmt.Errorf("suspects: %d traps are more than %d", len(s.Trap), maxTraps)
	}
	_, err := s.Traps()
	return cmp.Or(suspectActions.check("suspects action", s.Action), err)
}

// Traps parses the paths of the traps.
func (s *Suspects) Traps() (traps []suspect.Trap, err error) {
	for _, pattern := range s.Trap {
		trap, err := suspect.ParseTrap(pattern)
		if err != nil {
			return nil, fmt.Errorf("suspects: %w", err)
		}
		if slices.Contains(traps, trap) {
			return nil, fmt.Errorf("suspects: trap %s is given twice", pattern)
		}
		traps = append(traps, trap)
	}
	return traps, nil
}

// Period returns the time for which a client stays a suspect.
func (s *Suspects) Period() time.Duration {
	return cmp.Or(time.Duration(s.For), suspect.DefaultFor)
}

// suspects parses the block suspects.
func (p *parser) suspects(_ string, args []string) error {
	if err := onlyBlock("suspects", args); err != nil {
		return err
	}
	s := new(Suspects)
	p.settings.Suspects = s
	return p.block(table{
		"trap":   list(&s.Trap),
		"action": choice(&s.Action, suspectActions),
		"for":    duration(&s.For, leastFor),
	}, s.check)
}
