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

	"github.com/caddy-robots/caddy-robots/robots"
)

const (
	missesToOpen = 3                      // missed deadlines in a row after which the server counts as unavailable
	probeEvery   = 250 * time.Millisecond // the first pause between probes; each further pause is twice as long,
	probeAtMost  = 2 * time.Second        // up to this one
	probeTimeout = time.Second            // for one probe, and for one attempt to connect
	steadyAfter  = 10 * time.Second       // after this time without failure, the first pause is short again
)

// link is the connection to the server, with a circuit breaker. Requests use
// the connection while the circuit is closed. One goroutine connects, and
// probes the server while the circuit is open, so that requests never do.
type link struct {
	config  FleetConfig
	obs     Observer
	ctx     context.Context // ends when the link is closed
	cancel  context.CancelFunc
	opened  chan bool // tells the goroutine that the circuit was opened, and whether to connect again
	running sync.WaitGroup

	misses atomic.Int32
	usable atomic.Pointer[valkeyServer] // nil while the circuit is open
	failed atomic.Pointer[string]       // the key of the request that opened it

	mu    sync.Mutex
	state FleetState
}

func newLink(c FleetConfig, obs Observer) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{config: c, obs: obs, ctx: ctx, cancel: cancel, opened: make(chan bool, 1), state: FleetConnecting}
}

// close opens the circuit forever, closes all connections and waits until the
// goroutine ends. It does not wait for the network.
func (l *link) close() {
	l.mu.Lock()
	l.cancel()
	l.usable.Store(nil)
	l.mu.Unlock()
	l.running.Wait()
}

// server returns the server for requests, or nil while the circuit is open.
func (l *link) server() server {
	if s := l.usable.Load(); s != nil {
		return *s
	}
	return nil
}

func (l *link) clearMisses() {
	if l.misses.Load() != 0 {
		l.misses.Store(0)
	}
}

// fail records that a call for key failed, and opens the circuit. If the
// failure may concern only that request (a missed deadline, or an error reply
// that does not concern the server), it opens the circuit only after
// missesToOpen failures in a row.
func (l *link) fail(key string, err error) {
	_, replied := valkey.IsValkeyErr(err)
	alone := replied && serverFault(err) == nil || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)
	if misses := l.misses.Add(1); alone && misses < missesToOpen {
		return
	}
	if s := l.usable.Load(); s == nil || !l.usable.CompareAndSwap(s, nil) {
		return // another request has opened the circuit, or the link is closed
	}
	l.failed.Store(&key)
	l.setState(FleetDown, nil, err)
	l.opened <- !alone
}

// setState sets the state, and the server for requests. After close it does
// nothing.
func (l *link) setState(state FleetState, s *valkeyServer, err error) {
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

// run connects, and closes the circuit when the server answers. It makes a new
// connection, and asks DNS, the Sentinels or the cluster again for the address,
// after a probe has failed, and if the failure of a request concerns the server.
// So it finds the new master after a server became a replica.
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
			l.setState(FleetDown, nil, err)
			pause = longer(pause)
			continue
		}
		began := time.Now()
		l.misses.Store(0)
		l.setState(FleetUp, &valkeyServer{c.client}, nil)
		select {
		case again := <-l.opened:
			if again {
				c.close()
				c = nil
			}
		case <-l.ctx.Done():
		}
		if pause = longer(pause); time.Since(began) > steadyAfter {
			pause = 0
		}
	}
}

// longer returns the pause after this one.
func longer(pause time.Duration) time.Duration {
	return min(max(2*pause, probeEvery), probeAtMost)
}

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

// probeLimits accept every probe, so that each probe writes to the server, as a
// request does.
var probeLimits = Compile(Grant{Delay: robots.CrawlDelay{Delay: 2 * time.Microsecond}})

func (l *link) probe(client valkey.Client) error {
	ctx, cancel := context.WithTimeout(l.ctx, probeTimeout)
	defer cancel()
	start := time.Now()
	_, err := valkeyServer{client}.call(ctx, scriptCall{key: l.probeKey(), now: start.UnixMicro(), limits: probeLimits, known: &arrivals{}})
	l.obs.FleetCall(time.Since(start), explain(err))
	return err
}

// probeKey returns a key that a cluster stores on the node on which the last
// call failed: only the part in braces, which is the key of that call, decides
// about the node.
func (l *link) probeKey() string {
	if failed := l.failed.Load(); failed != nil {
		return l.config.Prefix + "probe{" + *failed + "}"
	}
	return l.config.Prefix + "probe"
}

// connection is a client with its network connections.
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

// close closes c, which may be nil. It closes the network connections first,
// because the client would wait for a server that does not answer.
func (c *connection) close() {
	if c != nil {
		c.dialer.close()
		c.client.Close()
	}
}

// options returns the client's options. Calls are pipelined over one or two
// connections. A call is never sent twice, because the first one may have used
// budget.
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
