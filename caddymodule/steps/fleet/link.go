package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
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

// States of a limiter: whether the server can be called.
const (
	stateConnecting = "connecting" // it is new
	stateUp         = "up"
	stateDown       = "down"
)

// close ends the use of the server. The goroutine ends, and closes all connections, without
// being waited for: the client waits for a server that does not answer. Afterwards, f decides
// alone, and reports no states.
func (f *limiter) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel()
	f.current.Store(nil)
}

// usable returns the connection, or nil while the circuit is open.
func (f *limiter) usable() server {
	if c := f.current.Load(); c != nil && c.usable.Load() {
		return c
	}
	return nil
}

// fail records that a call failed, and opens the circuit. If the failure may concern only that
// request (a missed deadline, or an error reply that does not concern the server), it opens the
// circuit only after missesToOpen failures in a row.
func (f *limiter) fail(c *connection, err error) {
	_, replied := valkey.IsValkeyErr(err)
	alone := replied && serverFault(err) == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)
	if misses := c.misses.Add(1); alone && misses < missesToOpen {
		return
	}
	if !c.usable.CompareAndSwap(true, false) {
		return // another request has opened the circuit
	}
	c.broken.Store(!alone)
	f.report(stateDown, err)
	select {
	case f.opened <- struct{}{}:
	default:
	}
}

// report reports a change of the state, and why. After close, it does nothing.
func (f *limiter) report(state string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() == nil && f.state != state {
		f.state, f.since = state, time.Now()
		f.obs.changed(state, explain(err))
	}
}

// run connects, and closes the circuit when the server answers. It makes a new connection, and
// asks DNS, the Sentinels or the cluster again for addresses, if a probe or a request has failed.
// So it finds the new master after a server became a replica.
func (f *limiter) run() {
	var c *connection
	defer func() { c.close() }()
	for pause := time.Duration(0); ; pause = min(max(2*pause, probeEvery), probeAtMost) {
		select {
		case <-time.After(pause/2 + rand.N(pause/2+1)): // so that servers do not call at the same time
		case <-f.ctx.Done():
			return
		}
		var err error
		if c == nil {
			c, err = f.newConnection()
		}
		if err == nil {
			err = background.Try("fleet: a probe", func() error { return f.probe(c) })
		}
		if err != nil {
			f.report(stateDown, err)
			if err != errDeadline {
				c.close()
				c = nil
			}
			continue
		}
		c.misses.Store(0)
		c.usable.Store(true)
		f.report(stateUp, nil)
		began := time.Now()
		select {
		case <-f.opened:
			if c.broken.Load() {
				c.close()
				c = nil
			}
		case <-f.ctx.Done():
		}
		if time.Since(began) > steadyFor {
			pause = 0
		}
	}
}

// probe calls the server as a request does. Replies that would be too late for a
// request are errDeadline, as the first one may be, because the server does not know the script.
func (f *limiter) probe(c *connection) error {
	ctx, cancel := context.WithTimeout(f.ctx, probeTimeout)
	defer cancel()
	start := time.Now()
	_, err := c.call(ctx, scriptCall{keys: []string{f.config.Prefix + "probe"}, now: start.UnixMicro(), budgets: []budget{{Use: throttle.Use{Limits: probeLimits}}}})
	took := time.Since(start)
	if err == nil && took > f.config.Deadline {
		err = errDeadline
	}
	f.obs.called(took, explain(err))
	return err
}

// newConnection makes a new connection, whose circuit is open.
func (f *limiter) newConnection() (*connection, error) {
	client, err := valkey.NewClient(f.options())
	if err != nil {
		return nil, err
	}
	c := &connection{client: client, isCluster: client.Mode() == valkey.ClientModeCluster}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() == nil {
		f.current.Store(c)
	}
	return c, nil
}

// options returns the client's options. Calls are pipelined over one or two
// connections. A call is never sent twice, because the first one may have used
// budget.
func (f *limiter) options() valkey.ClientOption {
	o := f.config.ClientOption
	o.ClientName = "caddy-robots"
	o.Dialer = net.Dialer{Timeout: probeTimeout, KeepAlive: probeTimeout}
	o.ConnWriteTimeout = probeTimeout
	o.AlwaysPipelining, o.PipelineMultiplex = true, 1
	o.DisableRetry, o.DisableCache = true, true
	o.ReadBufferEachConn, o.WriteBufferEachConn = 1<<14, 1<<14
	return o
}
