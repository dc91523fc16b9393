package fleet

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/robots"
)

// connection is a client with its network connections, and a circuit breaker. It is for one
// server, or for a cluster, whose nodes the client finds.
type connection struct {
	client    valkey.Client
	dialer    *dialer
	isCluster bool
	usable    atomic.Bool // the circuit is closed
	broken    atomic.Bool // the failure that opened the circuit concerns the connection or the server
	misses    atomic.Int32
}

// call implements server.
func (c *connection) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	reply, err := takeScript.Exec(ctx, c.client, q.keys, q.args()).ToArray()
	if err != nil {
		return false, err
	}
	return q.parseReply(reply)
}

func (c *connection) clearMisses() {
	if c.misses.Load() != 0 {
		c.misses.Store(0)
	}
}

// probeLimits accept every probe, so that each probe writes to the server, as a
// request does.
var probeLimits = throttle.Compile(throttle.Grant{Delay: robots.CrawlDelay{Delay: 2 * time.Microsecond}})

// close closes c, which may be nil. It closes the network connections first,
// because the client would wait for a server that does not answer.
func (c *connection) close() {
	if c != nil {
		c.dialer.close()
		c.client.Close()
	}
}

// dialer makes the network connections of one client, and can close all of
// them. The client itself leaves some open if it is closed while it connects.
// The methods of a dialer are safe for concurrent use.
type dialer struct {
	ctx    context.Context // ends when the dialer is closed
	cancel context.CancelFunc

	mu   sync.Mutex
	open map[net.Conn]struct{}
}

func newDialer() *dialer {
	ctx, cancel := context.WithCancel(context.Background())
	return &dialer{ctx: ctx, cancel: cancel, open: make(map[net.Conn]struct{})}
}

// dial connects to host:port, or to a Unix socket if address starts with a
// slash. After close, it returns an error at once.
func (d *dialer) dial(ctx context.Context, address string, nd *net.Dialer, t *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer background.Ended(d.ctx, "fleet: the end of a connection", cancel)()
	conn, err := connect(ctx, address, nd, t)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil {
		conn.Close()
		return nil, net.ErrClosed
	}
	d.open[conn] = struct{}{}
	return &dialedConn{conn, d}, nil
}

func connect(ctx context.Context, address string, nd *net.Dialer, t *tls.Config) (net.Conn, error) {
	if strings.HasPrefix(address, "/") {
		return nd.DialContext(ctx, "unix", address)
	}
	if t != nil {
		return (&tls.Dialer{NetDialer: nd, Config: t}).DialContext(ctx, "tcp", address)
	}
	return nd.DialContext(ctx, "tcp", address)
}

// close closes all connections, and stops all dials.
func (d *dialer) close() {
	d.mu.Lock()
	d.cancel()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	for conn := range open {
		conn.Close()
	}
}

// dialedConn is a connection that removes itself from its dialer when it is
// closed.
type dialedConn struct {
	net.Conn
	dialer *dialer
}

func (c *dialedConn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.open, c.Conn)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}
