package caddymodule

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// needs finds matchers of a server that never match, because no robots handler of the
// server finds out what they ask for.
type needs struct {
	wanted, found map[string]bool // by the line of the handler
	unknown       bool            // a handler can't be decoded, which is an error of its own
}

func newNeeds() *needs { return &needs{wanted: make(map[string]bool), found: make(map[string]bool)} }

// The lines that matchers need.
const (
	shedLine      = "shed"
	verifyLine    = "verify"
	challengeLine = "challenge"
)

// addMatchers adds the matchers of a route.
func (n *needs) addMatchers(sets []routes.Set) {
	for _, set := range sets {
		if inside, ok := set["not"].([]routes.Set); ok {
			n.addMatchers(inside)
		}
		m, live := set["robots"].(*MatchRobots)
		if !live {
			m = new(MatchRobots)
			_ = routes.Decode(set["robots"], m) // else an error of its own
		}
		n.wanted[shedLine] = n.wanted[shedLine] || m.Busy
		n.wanted[verifyLine] = n.wanted[verifyLine] || m.Verified || m.Impostor
		n.wanted[challengeLine] = n.wanted[challengeLine] || m.Stranger
	}
}

// addHandler adds a robots handler.
func (n *needs) addHandler(c *config.Settings) {
	n.found[shedLine] = n.found[shedLine] || c.Shed != nil
	n.found[verifyLine] = n.found[verifyLine] || c.Verify != nil
	n.found[challengeLine] = n.found[challengeLine] || c.Challenge != nil
}

// check returns an error for matchers that never match.
func (n *needs) check() error {
	for line, matcher := range map[string]string{shedLine: "busy", verifyLine: "verified or impostor", challengeLine: "stranger"} {
		if n.wanted[line] && !n.found[line] && !n.unknown {
			return fmt.Errorf("a matcher robots %s never matches: no robots block of its server has the line `%s`: add it, or remove the matcher",
				matcher, line)
		}
	}
	return nil
}
