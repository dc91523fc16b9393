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

// answer is the script's reply: the account after the request, in the
// server's time.
type answer struct {
	ok      bool
	now, at int64
	arrivals
}

// scriptArgs returns the arguments of the script for a request that may be
// held until the given instant. now is empty for the server's clock.
func scriptArgs(now string, until int64, t *Terms, known *arrivals, seen bool) []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	last := int64(0)
	if seen {
		last = known.last
	}
	args := make([]string, 0, scriptHead+scriptLimit*t.n)
	args = append(args, now, number(until), strconv.FormatUint(uint64(t.sig), 16), number(last),
		strconv.FormatFloat(float64(known.used), 'g', 9, 32), number(int64(t.n)))
	for i := range t.limits[:t.n] {
		l := &t.limits[i]
		args = append(args, number(l.interval), number(l.tolerance), number(int64(l.window.from)),
			number(int64(l.window.length)), number(1<<l.shift), number(known.tat[i]))
	}
	return args
}

var errReply = errors.New("throttle: the server's reply to the script is not one of ours")

// runScript asks the server for one request.
func runScript(ctx context.Context, client valkey.Client, key string, args []string, t *Terms) (answer, error) {
	reply, err := takeScript.Exec(ctx, client, []string{key}, args).ToArray()
	if err != nil {
		return answer{}, err
	}
	if len(reply) != 5+t.n {
		return answer{}, errReply
	}
	var a answer
	a.sig = t.sig
	var ok int64
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
