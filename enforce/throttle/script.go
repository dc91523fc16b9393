package throttle

import (
	"context"
	_ "embed"
	"strconv"

	"github.com/valkey-io/valkey-go"
)

//go:embed take.lua
var takeSource string

var takeScript = valkey.NewLuaScript(takeSource)

// The script has scriptHead arguments, scriptBudget more for each budget, and
// scriptLimit more for each of its limits.
const scriptHead, scriptBudget, scriptLimit = 5, 4, 6

// scriptCall is one call of the script. Times are in microseconds by the
// caller's clock. The script converts them to the server's clock and back, so
// the clocks of the callers and servers may differ.
type scriptCall struct {
	now      int64
	back     bool  // gives the request back
	after    int64 // how long after now the request was accepted that is given back: not above zero
	slack    int64 // the largest error of converted times; see FleetConfig.slack
	injected bool  // the caller's clock counts, not the server's
	apart    bool  // the keys have different homes, so that a cluster can't use them together
	keys     []string
	budgets  []budget // for each key; the call sets their states to those after the request
}

// server calls the script. Tests replace it.
type server interface {
	call(ctx context.Context, q scriptCall) (ok bool, err error)
}

// args returns the arguments of the script.
func (q scriptCall) args() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	clock, action, size := "server", "take", scriptHead
	if q.back {
		action = "return"
	}
	if q.injected {
		clock = "caller"
	}
	for i := range q.budgets {
		size += scriptBudget + scriptLimit*len(q.budgets[i].limits.limits)
	}
	args := append(make([]string, 0, size), clock, number(q.now), number(q.after), number(q.slack), action)
	for i := range q.budgets {
		b, t, last := &q.budgets[i], q.budgets[i].limits, int64(0)
		if b.known {
			last = b.last
		}
		args = append(args, strconv.FormatUint(uint64(t.sig), 16), number(last),
			strconv.FormatFloat(float64(b.used), 'g', 9, 32), number(int64(len(t.limits))))
		for i := range t.limits {
			l := &t.limits[i]
			args = append(args, number(l.interval), number(l.tolerance), number(int64(l.window.from)),
				number(int64(l.window.length)), number(1<<l.shift), number(b.tat[i]))
		}
	}
	return args
}

// parseReply sets the states of the budgets to those in the script's reply, and
// returns whether the script accepted the request or, if it was to be given back,
// whether it was.
func (q scriptCall) parseReply(reply []valkey.ValkeyMessage) (ok bool, err error) {
	size := 1
	for i := range q.budgets {
		size += 2 + len(q.budgets[i].limits.limits)
	}
	if len(reply) != size {
		return false, errReply
	}
	next := func() (m *valkey.ValkeyMessage) {
		m, reply = &reply[0], reply[1:]
		return m
	}
	whole := func() int64 {
		n, failed := next().AsInt64()
		if failed != nil {
			err = errReply
		}
		return n
	}
	time := func() int64 {
		n := whole()
		if n-q.now > 2*maxHorizon || q.now-n > 2*maxHorizon {
			err = errReply
		}
		return n
	}
	ok = whole() == 1
	for i := range q.budgets {
		b := &q.budgets[i]
		b.arrivals, b.known = arrivals{sig: b.limits.sig, last: time()}, true
		used, failed := next().AsFloat64()
		if b.used = float32(used); failed != nil {
			err = errReply
		}
		for j := range b.limits.limits {
			b.tat[j] = time()
		}
	}
	return ok && err == nil, err
}
