package throttle

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/valkey-io/valkey-go"
)

//go:embed take.lua
var takeSource string

var takeScript = valkey.NewLuaScript(takeSource)

// The script has scriptHead arguments, and scriptLimit more for each limit.
const scriptHead, scriptLimit = 10, 6

// scriptCall is one call of the script. Times are in microseconds by the
// caller's clock. The script converts them to the server's clock and back, so
// the clocks of the callers and servers may differ.
type scriptCall struct {
	key      string
	now      int64
	hold     int64 // how long after now the request is to be accepted, or was accepted
	back     bool  // gives the request back
	slack    int64 // the largest error of converted times; see FleetConfig.slack
	injected bool  // the caller's clock counts, not the server's
	limits   *Limits
	known    *arrivals // the state of the budget that the caller knows
	seen     bool      // whether the caller knows a state
	since    int64     // see take.lua
}

// scriptReply is the reply of the script: the state of the budget after the
// request, by the caller's clock.
type scriptReply struct {
	ok bool
	arrivals
}

// server calls the script. Tests replace it.
type server interface {
	call(ctx context.Context, q scriptCall) (scriptReply, error)
}

// args returns the arguments of the script.
func (q scriptCall) args() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	t, clock, action, last := q.limits, "server", "take", int64(0)
	if q.back {
		action = "return"
	}
	if q.injected {
		clock = "caller"
	}
	if q.seen {
		last = q.known.last
	}
	args := make([]string, 0, scriptHead+scriptLimit*t.n)
	args = append(args, clock, number(q.now), number(q.hold), number(q.slack), strconv.FormatUint(uint64(t.sig), 16), number(last),
		strconv.FormatFloat(float64(q.known.used), 'g', 9, 32), number(int64(t.n)), action, number(q.since))
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		args = append(args, number(l.interval), number(l.tolerance), number(int64(l.window.from)),
			number(int64(l.window.length)), number(1<<l.shift), number(q.known.tat[i]))
	}
	return args
}

func parseReply(reply []valkey.ValkeyMessage, t *Limits) (scriptReply, error) {
	if len(reply) != 3+t.n {
		return scriptReply{}, errReply
	}
	var a scriptReply
	a.sig = t.sig
	var ok int64
	var err error
	into := [...]*int64{&ok, &a.last}
	for i := range reply {
		switch {
		case i < len(into):
			*into[i], err = reply[i].AsInt64()
		case i == len(into):
			var used float64
			used, err = reply[i].AsFloat64()
			a.used = float32(used)
		default:
			a.tat[i-len(into)-1], err = reply[i].AsInt64()
		}
		if err != nil {
			return scriptReply{}, fmt.Errorf("%w: %w", errReply, err)
		}
	}
	a.ok = ok == 1
	return a, nil
}
