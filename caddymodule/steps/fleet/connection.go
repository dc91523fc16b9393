package fleet

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
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
	client     valkey.Client
	disconnect context.CancelFunc // ends the network connections
	isCluster  bool
	usable     atomic.Bool // the circuit is closed
	broken     atomic.Bool // the failure that opened the circuit concerns the connection or the server
	misses     atomic.Int32
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
		c.disconnect()
		c.client.Close()
	}
}

// dialer makes the network connections of one client, which end with its context. The client itself
// leaves some open if it is closed while it connects.
type dialer struct{ context.Context }

// dial connects to host:port, or to a Unix socket if address starts with a
// slash.
func (d dialer) dial(ctx context.Context, address string, nd *net.Dialer, t *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer background.Ended(d, "fleet: the end of a dial", cancel)()
	conn, err := connect(ctx, address, nd, t)
	if err != nil {
		return nil, err
	}
	return &dialedConn{conn, background.Ended(d, "fleet: the end of a connection", func() { conn.Close() })}, nil
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

// dialedConn is a connection of a dialer.
type dialedConn struct {
	net.Conn
	forget func() bool // the end of the dialer's context does not concern it any more
}

func (c *dialedConn) Close() error {
	c.forget()
	return c.Conn.Close()
}
