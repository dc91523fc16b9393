package caddymodule

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/suspect"
)

// The values of Suspects.Action.
const (
	suspectsObserve = "observe"
	suspectsBind    = "bind"
)

// Bounds of Suspects.
const (
	leastFor = time.Minute
	mostFor  = suspect.Remember
	maxTraps = 16
)

// Suspects notices clients that send a browser's User-Agent and behave like
// robots. Two independent signals within 24 hours make an address together with
// its whole User-Agent a suspect, at least one of them strong: a request for a
// trap URL that was minted for the same address, or reading /robots.txt without
// the Sec-Fetch-* fields that this browser always sends. Only requests over
// HTTPS without a Cookie are looked at. What other sites' pages make a browser
// send, such as images, links and prefetches, does not count.
type Suspects struct {
	// Paths of traps, such as `/calendar-all/*`. A trap is in force for an
	// origin while robots.txt disallows it to every group. For the sources
	// `file` and `inline` a trap that is not disallowed is an error. The
	// placeholder `{http.robots.trap}` is a URL below the first of them.
	Trap []string `json:"trap,omitempty"`

	// What happens to suspects: `observe`, which shows them in placeholders,
	// the access log, the log and metrics; or `bind`, which also holds them to
	// the path rules of `User-agent: *`, not to its pace. Then they get a page
	// that says why, with a button for people. Default: `observe`.
	Action string `json:"action,omitempty"`

	// For how long after the last signal a client stays a suspect, from 1m to
	// 24h. Default: 1h.
	For caddy.Duration `json:"for,omitempty"`
}

func (s *Suspects) validate() error {
	if err := oneOf("suspects action", s.Action, "", suspectsObserve, suspectsBind); err != nil {
		return err
	}
	if f := time.Duration(s.For); f != 0 && (f < leastFor || f > mostFor) {
		return fmt.Errorf("suspects for %s is not between %s and %s", f, leastFor, mostFor)
	}
	if len(s.Trap) > maxTraps {
		return fmt.Errorf("suspects: %d traps are more than %d", len(s.Trap), maxTraps)
	}
	_, err := s.traps()
	return err
}

// traps are the traps as the watch takes them.
func (s *Suspects) traps() (traps []suspect.Trap, err error) {
	for _, pattern := range s.Trap {
		trap, err := suspect.ParseTrap(pattern)
		if err != nil {
			return nil, fmt.Errorf("suspects: %w", err)
		}
		if slices.Contains(traps, trap) {
			return nil, fmt.Errorf("suspects: trap %s stands here a second time", pattern)
		}
		traps = append(traps, trap)
	}
	return traps, nil
}

// hold is for how long a client stays a suspect.
func (s *Suspects) hold() time.Duration {
	if s.For == 0 {
		return suspect.DefaultFor
	}
	return time.Duration(s.For)
}

// parseSuspects parses
//
//	suspects {
//		trap   <paths...>
//		action observe | bind
//		for    <duration>
//	}
func parseSuspects(h *Handler, d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("suspects: unexpected %q: it takes its options in a block", d.Val())
	}
	s := new(Suspects)
	h.Suspects = s
	return parseBlock(h, d, map[string]subdirective{
		"trap":   then(words(func(*Handler) *[]string { return &s.Trap }, nil), s.validate),
		"action": choice(func(*Handler) *string { return &s.Action }, suspectsObserve, suspectsBind),
		"for":    then(duration(func(*Handler) *caddy.Duration { return &s.For }, leastFor), s.validate),
	})
}
