package visitors

import (
	"cmp"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

// Watcher looks for suspects among the requests of a handler that seem to be
// people's. It is safe for concurrent use.
type Watcher struct {
	memory *Memory
	traps  []suspect.Trap
	bind   bool          // apply the rules for * to suspects
	period time.Duration // for which a client stays a suspect after its last signal
}

// New returns a Watcher with traps. If bind is true, the rules for * apply to
// suspects. A client stays a suspect for a period after its last signal.
func New(memory *Memory, traps []suspect.Trap, bind bool, period time.Duration) *Watcher {
	return &Watcher{memory, traps, bind, period}
}

// Visit is the request of a visitor.
type Visit struct {
	suspect.Standing
	request suspect.Request
}

// Observe counts a request whose User-Agent names no crawler, and sets v. rules are
// those in force. It reports whether the client is a suspect to which the path rules
// of the group for `*` apply.
func (s *Watcher) Observe(v *Visit, q *judge.Request, r *http.Request, rules *judge.Rules) (suspect bool) {
	if len(r.Header["Cookie"]) > 0 || q.Authorized || q.Ambiguous || !v.identify(q) {
		return false // such requests are not counted
	}
	to := &v.request
	to.Method, to.Target, to.Header, to.Time = q.Method, q.Target, r.Header, q.Time
	to.RobotsTxt = judge.IsRobotsTxt(q.Target)
	if !q.Proxied {
		to.Connection = r.RemoteAddr
	}
	to.Trap = s.hit(q, rules, to)
	v.Standing = s.memory.See(to, s.period)
	return s.bind && v.Suspect && v.Page
}

// identify fills in the client and the site. It returns false if the client is
// not certain, or if the request was not sent over HTTPS.
func (v *Visit) identify(q *judge.Request) bool {
	if q.Origin.Scheme != "https" || len(q.UserAgents) != 1 || q.Client == "" {
		return false
	}
	to := &v.request
	to.Client, _ = netip.ParseAddr(q.Client)
	to.Site, to.Port, to.UserAgent, to.Secure = q.Origin.Host, q.Origin.Port, q.UserAgents[0], true
	if q.Invented {
		to.Site = cmp.Or(q.Site, "*")
	}
	return to.Client.IsValid()
}

// hit returns whether and how a request hits a trap that is in force.
func (s *Watcher) hit(q *judge.Request, rules *judge.Rules, r *suspect.Request) suspect.Hit {
	for _, trap := range s.traps {
		if hit := s.memory.hit(trap, q.Target, r, q.Time); hit != suspect.NoHit {
			if _, ok := rules.DisallowsEveryGroup(q.Target); ok {
				return hit
			}
		}
	}
	return suspect.NoHit
}

// HasTraps reports whether there are traps. s may be nil.
func (s *Watcher) HasTraps() bool { return s != nil && len(s.traps) > 0 }

// TrapURL returns a trap URL for the client of a request, "" if no trap is in
// force under the rules.
func (s *Watcher) TrapURL(q *judge.Request, rules *judge.Rules) string {
	var v Visit
	if !v.identify(q) {
		return ""
	}
	u := s.traps[0].Mint(s.memory.key.Load(), v.request.Site, v.request.Client, q.Time)
	if _, ok := rules.DisallowsEveryGroup(u); !ok {
		return ""
	}
	return u
}

// sampleTrapURL is the end of an example of a trap URL.
const sampleTrapURL = "anyMintedUrl-0123456789_xyz"

// Inactive yields the traps that are not in force, because a group of robots.txt
// allows them, and which group that is.
func Inactive(traps []suspect.Trap, rules *judge.Rules) iter.Seq2[suspect.Trap, string] {
	return func(yield func(suspect.Trap, string) bool) {
		for _, trap := range traps {
			if allowed := allowingGroup(rules, trap); allowed != "" && !yield(trap, allowed) {
				return
			}
		}
	}
}

// allowingGroup describes a group of robots.txt that allows URLs of a trap, "" if
// there is none.
func allowingGroup(rules *judge.Rules, trap suspect.Trap) string {
	for _, target := range []string{string(trap), string(trap) + sampleTrapURL} {
		group, ok := rules.DisallowsEveryGroup(target)
		switch {
		case ok:
		case group == nil:
			return fmt.Sprintf("it has no group for *: add one with Disallow: %s, and add this line to all other groups", trap)
		default:
			return fmt.Sprintf("the group for %s (line %d) allows it: add Disallow: %s to that group",
				metrics.Clip(group.Token()), group.Line(), trap)
		}
	}
	return ""
}
