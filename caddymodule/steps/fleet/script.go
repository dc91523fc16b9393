package fleet

import (
	"context"
	_ "embed"
	"math"
	"strconv"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

//go:embed take.lua
var takeSource string

var takeScript = valkey.NewLuaScript(takeSource)

// scriptCall is one call of the script. Times are in microseconds by the
// caller's clock. The script converts them to the server's clock and back, so
// the clocks of the callers and servers may differ.
type scriptCall struct {
	now      int64
	back     bool  // gives the request back
	after    int64 // how long after now the request was accepted that is given back: not above zero
	slack    int64 // the largest error of converted times; see config.slack
	injected bool  // the caller's clock counts, not the server's
	apart    bool  // the keys have different homes, so that a cluster can't use them together
	keys     []string
	budgets  []budget // for each key; the call sets their states to those after the request
}

// budget is a budget that a request uses, with its state as this process knows it.
type budget struct {
	throttle.Use
	throttle.State
}

// server calls the script. Tests replace it.
type server interface {
	call(ctx context.Context, q scriptCall) (ok bool, err error)
}

// args returns the arguments of the script.
func (q scriptCall) args() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	clock, action := "server", "take"
	if q.back {
		action = "return"
	}
	if q.injected {
		clock = "caller"
	}
	args := []string{clock, number(q.now), number(q.after), number(q.slack), action}
	for i := range q.budgets {
		b := &q.budgets[i]
		rates, signature := b.Limits.Rates()
		args = append(args, strconv.FormatUint(uint64(signature), 16), number(b.Last),
			strconv.FormatFloat(float64(b.Used), 'g', 9, 32), number(int64(len(rates))))
		for j := range rates {
			r := &rates[j]
			from, length := r.Window()
			args = append(args, number(r.Interval), number(r.Tolerance), number(from), number(length), number(r.Unit()), number(b.Arrivals[j]))
		}
	}
	return args
}

// parseReply sets the states of the budgets to those in the script's reply, and
// returns whether the script accepted the request or, if it was to be given back,
// whether it was. A float64 represents the times exactly.
func (q scriptCall) parseReply(reply []float64) (ok bool, err error) {
	size := 1
	for i := range q.budgets {
		rates, _ := q.budgets[i].Limits.Rates()
		size += 2 + len(rates)
	}
	if len(reply) != size {
		return false, errReply
	}
	ok, reply = reply[0] == 1, reply[1:]
	time := func(value float64) int64 {
		if ahead := value - float64(q.now); !(math.Abs(ahead) <= 2*float64(throttle.Horizon.Microseconds())) {
			err = errReply // also for a value that is not a number
			return 0
		}
		return int64(value)
	}
	for i := range q.budgets {
		b := &q.budgets[i]
		rates, _ := b.Limits.Rates()
		b.Last, b.Used = time(reply[0]), float32(reply[1])
		for j := range rates {
			b.Arrivals[j] = time(reply[2+j])
		}
		reply = reply[2+len(rates):]
	}
	return ok && err == nil, err
}
