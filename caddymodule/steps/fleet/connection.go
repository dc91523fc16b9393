package fleet

import (
	"context"
	"crypto/tls"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
	"github.com/caddy-robots/caddy-robots/robots"
)

// clusterSlots is how many hash slots a cluster has. Each key belongs to one.
const clusterSlots = 1 << 14

// connection is a client with its network connections.
type connection struct {
	client valkey.Client
	dialer *dialer
	nodes  []*node
	slots  []*node // of a cluster: the node for each slot
}

// node is the server or, in a cluster, the master of some slots, with a circuit
// breaker. After a failover, it is the new master of these slots.
type node struct {
	client   valkey.Client
	probeKey string
	alone    bool        // it has all keys
	usable   atomic.Bool // the circuit is closed
	broken   atomic.Bool // the failure that opened the circuit concerns the connection or the server
	misses   atomic.Int32
}

// call implements server.
func (n *node) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	reply, err := takeScript.Exec(ctx, n.client, q.keys, q.args()).ToArray()
	if err != nil {
		return false, err
	}
	return q.parseReply(reply)
}

func (n *node) clearMisses() {
	if n.misses.Load() != 0 {
		n.misses.Store(0)
	}
}

// probeLimits accept every probe, so that each probe writes to the server, as a
// request does.
var probeLimits = throttle.Compile(throttle.Grant{Delay: robots.CrawlDelay{Delay: 2 * time.Microsecond}})

// findNodes sets the nodes of c. In a cluster, the slots that no master serves
// are one node too. Each node gets a probe key that starts with prefix; nodes
// that no such key belongs to are not needed.
func (c *connection) findNodes(ctx context.Context, prefix string) error {
	if c.client.Mode() != valkey.ClientModeCluster {
		c.nodes = []*node{{client: c.client, probeKey: prefix, alone: true}}
		return nil
	}
	if err := c.readSlots(ctx); err != nil {
		return err
	}
	for i := range clusterSlots {
		key := prefix + "{" + strconv.Itoa(i) + "}"
		if n := c.node(key); n.probeKey == "" {
			n.probeKey = key
			c.nodes = append(c.nodes, n)
		}
	}
	return nil
}

// readSlots asks a node of the cluster which master serves which slots.
func (c *connection) readSlots(ctx context.Context) error {
	var ranges []valkey.ValkeyMessage
	err := errReply
	for _, one := range c.client.Nodes() {
		if ranges, err = one.Do(ctx, one.B().ClusterSlots().Build()).ToArray(); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	c.slots = make([]*node, clusterSlots)
	unserved, masters := &node{client: c.client}, make(map[string]*node)
	for i := range c.slots {
		c.slots[i] = unserved
	}
	for _, r := range ranges { // first slot, last slot, master (address, port, …), replicas …
		fields, _ := r.ToArray()
		if len(fields) < 3 {
			return errReply
		}
		first, _ := fields[0].AsInt64()
		last, _ := fields[1].AsInt64()
		master, _ := fields[2].ToArray()
		if len(master) < 2 || first < 0 || last >= clusterSlots {
			return errReply
		}
		host, _ := master[0].ToString()
		port, _ := master[1].AsInt64()
		name := host + " " + strconv.FormatInt(port, 10)
		if masters[name] == nil {
			masters[name] = &node{client: c.client}
		}
		for slot := first; slot <= last; slot++ {
			c.slots[slot] = masters[name]
		}
	}
	return nil
}

// node returns the node that stores a key.
func (c *connection) node(key string) *node {
	if c.slots == nil {
		return c.nodes[0]
	}
	get := c.client.B().Get().Key(key).Build()
	return c.slots[get.Slot()]
}

// open returns the nodes with open circuits.
func (c *connection) open() (list []*node) {
	for _, n := range c.nodes {
		if !n.usable.Load() {
			list = append(list, n)
		}
	}
	return list
}

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
