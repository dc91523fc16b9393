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
// robots. A client here is an IP address together with its whole User-Agent. It
// becomes a suspect after two independent signals within 24 hours. At least one
// of them must be strong: a request for a trap URL that the site sent to the
// same address, or a request for /robots.txt without any of the Sec-Fetch-*
// fields, which this browser always sends. The weak signals are requests for
// other URLs below the path of a trap, for many documents without the files
// that they embed, or for documents faster than people read them, and client
// hints that contradict the User-Agent. Requests over plain HTTP, and requests
// with a Cookie or Authorization field, are not looked at. Neither are requests
// that a page of another site caused, such as for images and links. Behind a
// trusted proxy, its X-Forwarded-Proto says whether the client used HTTPS.
type Suspects struct {
	// Paths of traps, such as `/calendar-all/*`, at most 16. A trap is in force
	// while every group of robots.txt disallows it, so that crawlers that obey
	// robots.txt never request it. With the sources `file` and `inline`, a trap
	// that is not disallowed is an error. The placeholder `{http.robots.trap}`
	// is a URL below the first path: put it in a link that people don't see.
	// Default: none.
	Trap []string `json:"trap,omitempty"`

	// What happens to suspects. `observe`: they appear in placeholders, the
	// access log, the log and metrics. `bind`: in addition, the path rules of
	// `User-agent: *` apply to them, but not its rate limits. If a rule
	// disallows a page, a suspect gets 403 with a page that gives the reason
	// and has a button for people. The button sets a cookie for a day and opens
	// the page, which is then not refused, because requests with a cookie are
	// not looked at. Default: `observe`.
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

// suspects parses
//
//	suspects {
//		trap   <paths...>
//		action observe | bind
//		for    <duration>
//	}
func (p *parser) suspects(_ string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("suspects: unexpected %q: it takes its options in a block", args[0])
	}
	s := new(Suspects)
	p.settings.Suspects = s
	return p.block(table{
		"trap":   words(&s.Trap, nil),
		"action": choice(&s.Action, suspectActions),
		"for":    duration(&s.For, leastFor),
	}, s.check)
}
