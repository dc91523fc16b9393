package throttle

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/valkey-io/valkey-go"
)

//go:embed take.lua
var takeSource string

var takeScript = valkey.NewLuaScript(takeSource)

// scriptHead and scriptLimit are the numbers of arguments that the script
// takes in all and for each limit.
const scriptHead, scriptLimit = 6, 6

// question is one request to the server.
type question struct {
	key   string
	clock int64 // the instant of the request; 0: by the server's clock
	until int64 // the instant that it may be held until; 0: now
	terms *Terms
	known *arrivals // what the caller knows of the budget
	seen  bool      // whether it knows anything
}

// answer is the server's reply: the account after the request, in the
// server's time.
type answer struct {
	ok      bool
	now, at int64
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
	t, clock, last := q.terms, "", int64(0)
	if q.clock != 0 {
		clock = number(q.clock)
	}
	if q.seen {
		last = q.known.last
	}
	args := make([]string, 0, scriptHead+scriptLimit*t.n)
	args = append(args, clock, number(q.until), strconv.FormatUint(uint64(t.sig), 16), number(last),
		strconv.FormatFloat(float64(q.known.used), 'g', 9, 32), number(int64(t.n)))
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		args = append(args, number(l.interval), number(l.tolerance), number(int64(l.window.from)),
			number(int64(l.window.length)), number(1<<l.shift), number(q.known.tat[i]))
	}
	return args
}

var errReply = errors.New("throttle: the server's reply to the script is not one of ours")

func parseAnswer(reply []valkey.ValkeyMessage, t *Terms) (answer, error) {
	if len(reply) != 5+t.n {
		return answer{}, errReply
	}
	var a answer
	a.sig = t.sig
	var ok int64
	var err error
	into := [...]*int64{&ok, &a.now, &a.at, &a.last}
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
