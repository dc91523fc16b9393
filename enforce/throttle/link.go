package throttle

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"
)

const (
	missesToOpen = 3                      // missed deadlines in a row until nobody waits for the server any longer
	probeEvery   = 250 * time.Millisecond // pause between probes at first, then twice as long each time
	probeAtMost  = 2 * time.Second        // up to this
	probeTimeout = time.Second            // of one probe and of one attempt to connect
	steadyAfter  = 10 * time.Second       // how long the server has to answer until the pauses are short again
)

// link is the connection to the server with its circuit breaker. Requests use
// it while the circuit is closed; one goroutine connects, and probes while the
// circuit is open, so that no request does.
type link struct {
	config FleetConfig
	obs    Observer
	ctx    context.Context // ends at close
	cancel context.CancelFunc
	opened chan struct{} // wakes the goroutine
	runs   sync.WaitGroup

	misses atomic.Int32
	usable atomic.Pointer[scripted] // nil while the circuit is open
	failed atomic.Pointer[string]   // the key of the request that opened it

	mu    sync.Mutex
	state FleetState
}

func newLink(c FleetConfig, obs Observer) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{config: c, obs: obs, ctx: ctx, cancel: cancel, opened: make(chan struct{}, 1)}
}

// close opens the circuit for good, closes all connections and waits for the
// goroutine. It does not wait for the network.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.usable.Store(nil)
	l.mu.Unlock()
	l.runs.Wait()
}

// server returns what requests may ask, or nil.
func (l *link) server() server {
	if s := l.usable.Load(); s != nil {
		return *s
	}
	return nil
}

func (l *link) answered() {
	if l.misses.Load() != 0 {
		l.misses.Store(0)
	}
}

// fail tells of a request for key that got no answer. It opens the circuit
// unless the reason may lie in that request alone: a missed deadline, or a
// reply that says nothing about the server.
func (l *link) fail(key string, err error) {
	_, replied := valkey.IsValkeyErr(err)
	alone := replied && serverFault(err) == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)
	if misses := l.misses.Add(1); alone && misses < missesToOpen {
		return
	}
	if l.usable.Load() == nil {
		return // opened by another request, or closed for good
	}
	l.failed.Store(&key)
	l.become(FleetDown, nil, err)
	select {
	case l.opened <- struct{}{}:
	default:
	}
}

// become sets the state, and what requests may ask in it. After close it does
// nothing.
func (l *link) become(state FleetState, s *scripted, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	l.usable.Store(s)
	if l.state != state {
		l.state = state
		l.obs.FleetState(state, explain(err))
	}
}

// run connects, and closes the circuit each time that the server answers
// again. A connection over which a probe fails is not used again: the next one
// asks DNS, the Sentinels or the cluster anew where the server is, so that a
// server that became a replica is left for its successor.
func (l *link) run() {
	var c *connection
	defer func() { c.close() }()
	for pause := time.Duration(0); l.sleep(pause); {
		var err error
		if c == nil {
			c, err = l.connect()
		}
		if err == nil {
			err = l.probe(c.client)
		}
		if err != nil {
			c.close()
			c = nil
			l.become(FleetDown, nil, err)
			pause = longer(pause)
			continue
		}
		began := time.Now()
		l.misses.Store(0)
		l.become(FleetUp, &scripted{c.client}, nil)
		select {
		case <-l.opened:
		case <-l.ctx.Done():
		}
		if pause = longer(pause); time.Since(began) > steadyAfter {
			pause = 0
		}
	}
}

// longer returns the pause that follows a pause.
func longer(pause time.Duration) time.Duration {
	return min(max(2*pause, probeEvery), probeAtMost)
}

// sleep waits for half of d to d, so that not all instances come at the same
// time. It reports false as soon as l is closed.
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

// probeTerms accept each request of a process, so that a probe writes to the
// server as a request does.
var probeTerms = mustLimit(CrawlDelay, 2*time.Microsecond)

func mustLimit(why Reason, interval time.Duration) *Terms {
	l, _ := newLimit(why, 1, interval, 1, DefaultMaxDelay)
	l.window = wholeDay
	t := &Terms{}
	t.setLimits([]limit{l})
	return t
}

func (l *link) probe(client valkey.Client) error {
	ctx, cancel := context.WithTimeout(l.ctx, probeTimeout)
	defer cancel()
	start := time.Now()
	_, err := scripted{client}.ask(ctx, question{key: l.probeKey(), now: start.UnixMicro(), terms: probeTerms, known: &arrivals{}})
	l.obs.FleetCall(time.Since(start), explain(err))
	return err
}

// probeKey returns a key that a cluster keeps on the node on which a request
// failed: the part in braces is that request's key, and alone decides.
func (l *link) probeKey() string {
	if failed := l.failed.Load(); failed != nil {
		return l.config.Prefix + "probe{" + *failed + "}"
	}
	return l.config.Prefix + "probe"
}

// connection is a client with all its network connections.
type connection struct {
	client valkey.Client
	dialer *dialer
}

func (l *link) connect() (*connection, error) {
	d := newDialer()
	stop := context.AfterFunc(l.ctx, d.close)
	client, err := valkey.NewClient(l.options(d))
	if err != nil {
		stop()
		d.close()
		return nil, err
	}
	return &connection{client, d}, nil
}

// close closes c, which may be nil. The network connections come first, for
// the client waits for a server that does not answer.
func (c *connection) close() {
	if c != nil {
		c.dialer.close()
		c.client.Close()
	}
}

// options returns the client's options. Requests are pipelined over one
// connection, or two, and never sent twice: the first may have been counted.
func (l *link) options(d *dialer) valkey.ClientOption {
	c := l.config
	return valkey.ClientOption{
		InitAddress:        c.Addresses,
		Username:           c.Username,
		Password:           c.Password,
		SelectDB:           c.Database,
		TLSConfig:          c.TLS,
		ClientName:         "caddy-robots",
		Sentinel:           valkey.SentinelOption{MasterSet: c.MasterSet, Username: c.SentinelUsername, Password: c.SentinelPassword, TLSConfig: c.TLS},
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
