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

// scriptHead and scriptLimit are the numbers of arguments that the script
// takes in all and for each limit.
const scriptHead, scriptLimit = 8, 6

// question is one request to the server. Times are microseconds by the
// caller's clock: the script converts them to its server's and back, so that
// the clocks of the caller and of each server may differ.
type question struct {
	key      string
	now      int64
	hold     int64 // how long after now the request may be held
	slack    int64 // how precisely times can be converted
	injected bool  // the caller's clock counts rather than the server's
	terms    *Terms
	known    *arrivals // what the caller knows of the budget
	seen     bool      // whether it knows anything
}

// answer is the server's reply: the account after the request, by the
// caller's clock.
type answer struct {
	ok bool
	arrivals
}

// server is what a Fleet asks.
type server interface {
	ask(ctx context.Context, q question) (answer, error)
}

// scripted is a server with the script.
type scripted struct {
	client valkey.Client
}

func (s scripted) ask(ctx context.Context, q question) (answer, error) {
	reply, err := takeScript.Exec(ctx, s.client, []string{q.key}, q.args()).ToArray()
	if err != nil {
		return answer{}, err
	}
	return parseAnswer(reply, q.terms)
}

// args returns the arguments of the script.
func (q question) args() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	t, clock, last := q.terms, "server", int64(0)
	if q.injected {
		clock = "caller"
	}
	if q.seen {
		last = q.known.last
	}
	args := make([]string, 0, scriptHead+scriptLimit*t.n)
	args = append(args, clock, number(q.now), number(q.hold), number(q.slack), strconv.FormatUint(uint64(t.sig), 16), number(last),
		strconv.FormatFloat(float64(q.known.used), 'g', 9, 32), number(int64(t.n)))
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		args = append(args, number(l.interval), number(l.tolerance), number(int64(l.window.from)),
			number(int64(l.window.length)), number(1<<l.shift), number(q.known.tat[i]))
	}
	return args
}

func parseAnswer(reply []valkey.ValkeyMessage, t *Terms) (answer, error) {
	if len(reply) != 3+t.n {
		return answer{}, errReply
	}
	var a answer
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
			return answer{}, fmt.Errorf("%w: %w", errReply, err)
		}
	}
	a.ok = ok == 1
	return a, nil
}
