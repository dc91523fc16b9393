package throttle

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync"
)

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
	defer context.AfterFunc(d.ctx, cancel)()
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
