package fleet

import (
	"context"
	_ "embed"
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
// whether it was.
func (q scriptCall) parseReply(reply []valkey.ValkeyMessage) (ok bool, err error) {
	next := func() (m valkey.ValkeyMessage) {
		if len(reply) == 0 {
			err = errReply
			return m
		}
		m, reply = reply[0], reply[1:]
		return m
	}
	whole := func() int64 {
		m := next()
		n, failed := m.AsInt64()
		if failed != nil {
			err = errReply
		}
		return n
	}
	time := func() int64 {
		n := whole()
		if ahead := n - q.now; max(ahead, -ahead) > 2*throttle.Horizon.Microseconds() {
			err = errReply
		}
		return n
	}
	ok = whole() == 1
	for i := range q.budgets {
		b := &q.budgets[i]
		b.Last = time()
		value := next()
		used, failed := value.AsFloat64()
		b.Used = float32(used)
		if failed != nil {
			err = errReply
		}
		rates, _ := b.Limits.Rates()
		for j := range rates {
			b.Arrivals[j] = time()
		}
	}
	if len(reply) > 0 {
		err = errReply
	}
	return ok && err == nil, err
}
