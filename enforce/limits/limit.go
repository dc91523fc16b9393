package limits

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Max is the largest number of limits of a Set: a request uses at most two budgets of each
// crawler that it names, and three of each limit. Of these, throttle.MaxUses count.
const Max = 7

// MaxAtOnce bounds the requests at once of a Limit.
const MaxAtOnce = 1_000_000

// Limit limits the requests of crawlers to some paths: those of all crawlers together, and
// those of each crawler. It holds a request that is let through, and that comes from a
// client that the robots.txt binds, or would bind if it had a group for `*`: see
// judge.Subject.Bound.
//
// Budgets belong to the hosts of a Set together, and to the paths. Sets in which these are
// equal share them, even if they are in several processes with one throttle.Limiter.
// Requests at once are counted by Turns.
type Limit struct {
	// The paths, as patterns in robots.txt syntax. Default: the whole site.
	Paths []string `json:"paths,omitempty"`

	// The hosts of the site block that it is for, in lower case. Default: all.
	Hosts []string `json:"hosts,omitempty"`

	// The rate of all crawlers together, such as `30/1m`: 30 requests in a minute (s, m, h),
	// of which a tenth, rounded up, may come at once. Names that nobody knows get at most half
	// of it while others come. Default: no limit.
	All string `json:"all,omitempty"`

	// The rate of each crawler; for software that anyone runs, and with `per ip`, of each
	// address. Default: no limit.
	Each string `json:"each,omitempty"`

	// How many requests of all crawlers together may be in flight on this server. While others
	// come, no crawler gets more than half of them. The body of a crawler's request is read
	// first: at most 64 KiB, within 2 seconds, otherwise the answer is 413 or 408. Default: no
	// limit.
	AtOnce int `json:"at_once,omitempty"`

	// The same for each crawler. Default: no limit.
	EachAtOnce int `json:"each_at_once,omitempty"`

	// Purposes and crawlers that the limit does not hold. Default: none.
	Except []string `json:"except,omitempty"`

	// The name of the configuration file that has the limit, and the line. Refusals
	// are shown with these. Default: none.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// name returns the line that begins the limit.
func (l *Limit) name() string { return strings.Join(append([]string{"limit"}, l.Paths...), " ") }

// scope returns the paths and hosts, in the order of their names.
func (l *Limit) scope() []string {
	scope := slices.Sorted(slices.Values(l.Paths))
	if len(l.Hosts) > 0 {
		scope = slices.Concat(scope, []string{""}, slices.Sorted(slices.Values(l.Hosts)))
	}
	return scope
}

// check returns an error for a limit that can't be used, or limits nothing. all and each are
// its rates.
func (l *Limit) check(all, each robots.RequestRate) error {
	switch {
	case l.All == "" && l.Each == "" && l.AtOnce == 0 && l.EachAtOnce == 0:
		return errors.New("it limits nothing: give a block with all, each, at_once or each_at_once, such as all 30/1m")
	case min(l.AtOnce, l.EachAtOnce) < 0 || max(l.AtOnce, l.EachAtOnce) > MaxAtOnce:
		return fmt.Errorf("the requests at once are not from 1 to %d", MaxAtOnce)
	case all.Requests > 0 && each.Requests >= all.Requests && each.Per <= all.Per:
		return fmt.Errorf("each %s limits nothing, because all %s is not more: give a lower rate", l.Each, l.All)
	case l.AtOnce > 0 && l.EachAtOnce >= l.AtOnce:
		return fmt.Errorf("each_at_once %d limits nothing, because at_once %d is not more: give a lower number", l.EachAtOnce, l.AtOnce)
	}
	return nil
}
