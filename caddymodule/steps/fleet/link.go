package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

const (
	missesToOpen = 3                      // missed deadlines in a row after which the server counts as unavailable
	probeEvery   = 250 * time.Millisecond // the first pause between probes; each further pause is twice as long,
	probeAtMost  = 2 * time.Second        // up to this one
	probeTimeout = time.Second            // for one probe, and for one attempt to connect
	steadyFor    = 10 * time.Second       // after this time without failure, the first pause is short again
)

// States of a link: whether the server can be called.
const (
	stateConnecting = "connecting" // it is new
	stateUp         = "up"
	stateDown       = "down"
)

// link is the connection to the server, with a circuit breaker. Requests use the server while
// the circuit is closed. One goroutine connects, and probes the server while the circuit is
// open, so that requests never do.
type link struct {
	config  config
	obs     events
	ctx     context.Context // ends when the link is closed
	cancel  context.CancelFunc
	opened  chan struct{} // tells the goroutine that the circuit was opened
	running background.Group

	current atomic.Pointer[connection] // nil before the first one and after close

	mu    sync.Mutex
	state string
}

func newLink(c config, obs events) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{config: c, obs: obs, ctx: ctx, cancel: cancel, opened: make(chan struct{}, 1), state: stateConnecting}
}

// close ends the use of the server, closes all connections and waits until the
// goroutine ends. It does not wait for the network.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.current.Store(nil)
	l.mu.Unlock()
	l.running.Wait()
}

// server returns the connection, or nil while the circuit is open.
func (l *link) server() server {
	if c := l.current.Load(); c != nil && c.usable.Load() {
		return c
	}
	return nil
}

// fail records that a call failed, and opens the circuit. If the failure may concern only that
// request (a missed deadline, or an error reply that does not concern the server), it opens the
// circuit only after missesToOpen failures in a row.
func (l *link) fail(c *connection, err error) {
	_, replied := valkey.IsValkeyErr(err)
	alone := replied && serverFault(err) == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)
	if misses := c.misses.Add(1); alone && misses < missesToOpen {
		return
	}
	if !c.usable.CompareAndSwap(true, false) {
		return // another request has opened the circuit
	}
	c.broken.Store(!alone)
	l.report(stateDown, err)
	select {
	case l.opened <- struct{}{}:
	default:
	}
}

// report reports a change of the state, and why. After close, it does nothing.
func (l *link) report(state string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil && l.state != state {
		l.state = state
		l.obs.changed(state, explain(err))
	}
}

// run connects, and closes the circuit when the server answers. It makes a new connection, and
// asks DNS, the Sentinels or the cluster again for addresses, if a probe or a request has failed.
// So it finds the new master after a server became a replica.
func (l *link) run() {
	var c *connection
	defer func() { c.close() }()
	for pause := time.Duration(0); l.sleep(pause); pause = longer(pause) {
		var err error
		if c == nil {
			c, err = l.connect()
		}
		if err == nil {
			err = background.Try("fleet: a probe", func() error { return l.probe(c) })
		}
		if err != nil {
			l.report(stateDown, err)
			if err != errDeadline {
				c.close()
				c = nil
			}
			continue
		}
		c.misses.Store(0)
		c.usable.Store(true)
		l.report(stateUp, nil)
		began := time.Now()
		select {
		case <-l.opened:
			if c.broken.Load() {
				c.close()
				c = nil
			}
		case <-l.ctx.Done():
		}
		if time.Since(began) > steadyFor {
			pause = 0
		}
	}
}

// longer returns the pause after this one.
func longer(pause time.Duration) time.Duration { return min(max(2*pause, probeEvery), probeAtMost) }

// sleep waits for a random time from d/2 to d, so that not all instances call
// the server at the same time. It returns false as soon as l is closed.
func (l *link) sleep(d time.Duration) bool {
	if d > 0 {
		timer := time.NewTimer(d/2 + rand.N(d/2))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.ctx.Done():
		}
	}
	return l.ctx.Err() == nil
}

// probe calls the server as a request does. Replies that would be too late for a
// request are errDeadline. The first may be late because the server does not
// know the script, so probe calls once more then.
func (l *link) probe(c *connection) (err error) {
	ctx, cancel := context.WithTimeout(l.ctx, probeTimeout)
	defer cancel()
	for range 2 {
		start := time.Now()
		_, err = c.call(ctx, scriptCall{keys: []string{l.config.Prefix + "probe"}, now: start.UnixMicro(), budgets: []budget{{Use: throttle.Use{Limits: probeLimits}}}})
		took := time.Since(start)
		late := err == nil && took > l.config.Deadline
		if late {
			err = errDeadline
		}
		if l.obs.called(took, explain(err)); !late {
			break
		}
	}
	return err
}

// connect makes a new connection, whose circuit is open.
func (l *link) connect() (*connection, error) {
	ctx, disconnect := context.WithCancel(l.ctx)
	client, err := valkey.NewClient(l.options(dialer{ctx}))
	if err != nil {
		disconnect()
		return nil, err
	}
	c := &connection{client: client, disconnect: disconnect, isCluster: client.Mode() == valkey.ClientModeCluster}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() == nil {
		l.current.Store(c)
	}
	return c, nil
}

// options returns the client's options. Calls are pipelined over one or two
// connections. A call is never sent twice, because the first one may have used
// budget.
func (l *link) options(d dialer) valkey.ClientOption {
	o := l.config.ClientOption
	o.ClientName = "caddy-robots"
	o.Dialer = net.Dialer{Timeout: probeTimeout, KeepAlive: probeTimeout}
	o.ConnWriteTimeout, o.DialCtxFn = probeTimeout, d.dial
	o.AlwaysPipelining, o.PipelineMultiplex = true, 1
	o.DisableRetry, o.DisableCache = true, true
	o.ReadBufferEachConn, o.WriteBufferEachConn = 1<<14, 1<<14
	return o
}
