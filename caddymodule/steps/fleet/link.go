package fleet

import (
	"context"
	"errors"
	"fmt"
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
	missesToOpen = 3                      // missed deadlines in a row after which a node counts as unavailable
	probeEvery   = 250 * time.Millisecond // the first pause between probes; each further pause is twice as long,
	probeAtMost  = 2 * time.Second        // up to this one
	probeTimeout = time.Second            // for one probe, and for one attempt to connect
	steadyFor    = 10 * time.Second       // after this time without failure, the first pause is short again
)

// States of a link: whether the server can be called.
const (
	stateConnecting = "connecting" // it is new
	stateUp         = "up"         // the server answers: in a cluster, every master
	stateDown       = "down"       // the server, or a master of a cluster, is unavailable
)

// link is the connection to the server, with a circuit breaker for each node.
// Requests use a node while its circuit is closed. One goroutine connects, and
// probes the nodes whose circuits are open, so that requests never do.
type link struct {
	config  config
	obs     events
	ctx     context.Context // ends when the link is closed
	cancel  context.CancelFunc
	opened  chan struct{} // tells the goroutine that a circuit was opened
	running background.Group

	current atomic.Pointer[connection] // nil before the first one and after close
	up      atomic.Bool                // all circuits are closed

	mu    sync.Mutex
	state string
}

func newLink(c config, obs events) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{config: c, obs: obs, ctx: ctx, cancel: cancel, opened: make(chan struct{}, 1), state: stateConnecting}
}

// close ends the use of all nodes, closes all connections and waits until the
// goroutine ends. It does not wait for the network.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.up.Store(false)
	l.current.Store(nil)
	l.mu.Unlock()
	l.running.Wait()
}

// server returns the node for the requests of a key, or nil while its circuit is
// open.
func (l *link) server(key string) server {
	if c := l.current.Load(); c != nil {
		if n := c.node(key); n.usable.Load() {
			return n
		}
	}
	return nil
}

// fail records that a call of a node failed, and opens the circuit. If the failure may concern only that request (a missed
// deadline, or an error reply that does not concern the server), it opens the
// circuit only after missesToOpen failures in a row.
func (l *link) fail(n *node, err error) {
	_, replied := valkey.IsValkeyErr(err)
	alone := replied && serverFault(err) == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)
	if misses := n.misses.Add(1); alone && misses < missesToOpen {
		return
	}
	if !n.usable.CompareAndSwap(true, false) {
		return // another request has opened the circuit
	}
	n.broken.Store(!alone)
	l.report(err)
	select {
	case l.opened <- struct{}{}:
	default:
	}
}

// report reports whether all nodes are usable, if that has changed. If not all
// are, err is the reason. After close, report does nothing.
func (l *link) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	state, cause := stateDown, explain(err)
	if c := l.current.Load(); c != nil {
		switch open := len(c.open()); {
		case open == 0:
			state, cause = stateUp, nil
		case len(c.nodes) > 1:
			cause = fmt.Errorf("%d of %d nodes: %w", open, len(c.nodes), cause)
		}
	}
	if l.up.Store(state == stateUp); l.state != state {
		l.state = state
		l.obs.changed(state, cause)
	}
}

// run connects, and closes the circuits of the nodes that answer. It makes a new
// connection, and asks DNS, the Sentinels or the cluster again for addresses, if
// no node answers a probe, and if the failure of a request concerns the only
// node. So it finds the new master after a server became a replica. In a
// cluster, the client itself follows failovers.
func (l *link) run() {
	var c *connection
	defer func() { c.close() }()
	for pause := time.Duration(0); l.sleep(pause); pause = longer(pause) {
		var err error
		if c == nil {
			if c, err = l.connect(); err != nil {
				l.report(err)
				continue
			}
		}
		err = l.probeOpen(c)
		l.report(err)
		if open := len(c.open()); open > 0 {
			if open == len(c.nodes) && err != errDeadline {
				c.close()
				c = nil
			}
			continue
		}
		began := time.Now()
		select {
		case <-l.opened:
			if len(c.nodes) == 1 && c.nodes[0].broken.Load() {
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

// probeOpen probes the nodes with open circuits, and closes the circuits of
// those that answer. It returns the error of one that does not.
func (l *link) probeOpen(c *connection) (failed error) {
	open := c.open()
	errs := make(chan error, len(open))
	for _, n := range open {
		background.Go("fleet: a probe", func() {
			err := background.Try("fleet: a probe", func() error { return l.probe(n) })
			if err == nil {
				n.misses.Store(0)
				n.usable.Store(true)
			}
			errs <- err
		})
	}
	for range open {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return failed
}

// probe calls a node as a request does. Replies that would be too late for a
// request are errDeadline. The first may be late because the server does not
// know the script, so probe calls once more then.
func (l *link) probe(n *node) (err error) {
	ctx, cancel := context.WithTimeout(l.ctx, probeTimeout)
	defer cancel()
	for range 2 {
		start := time.Now()
		_, err = n.call(ctx, scriptCall{keys: []string{n.probeKey}, now: start.UnixMicro(), budgets: []budget{{Use: throttle.Use{Limits: probeLimits}}}})
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

// connect makes a new connection, whose circuits are all open.
func (l *link) connect() (*connection, error) {
	d := newDialer()
	stop := background.Ended(l.ctx, "fleet: the end of connections", d.close)
	client, err := valkey.NewClient(l.options(d))
	if err != nil {
		stop()
		d.close()
		return nil, err
	}
	c := &connection{client: client, dialer: d}
	if err := c.findNodes(l.ctx, l.config.Prefix+"probe"); err != nil {
		c.close()
		return nil, err
	}
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
func (l *link) options(d *dialer) valkey.ClientOption {
	c := l.config
	return valkey.ClientOption{
		InitAddress: c.Addresses,
		Username:    c.Username,
		Password:    c.Password,
		SelectDB:    c.Database,
		TLSConfig:   c.TLS,
		ClientName:  "caddy-robots",
		Sentinel: valkey.SentinelOption{MasterSet: c.MasterSet, Username: c.SentinelUsername, Password: c.SentinelPassword,
			TLSConfig: c.TLS},
		Dialer:             net.Dialer{Timeout: probeTimeout, KeepAlive: probeTimeout},
		ConnWriteTimeout:   probeTimeout,
		DialCtxFn:          d.dial,
		AlwaysPipelining:   true,
		PipelineMultiplex:  1,
		DisableRetry:       true,
		DisableCache:       true,
		ReadBufferEachConn: 1 << 14, WriteBufferEachConn: 1 << 14,
	}
}
