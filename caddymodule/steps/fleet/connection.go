package fleet

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// connection is a client with its network connections, and a circuit breaker. It is for one
// server, or for a cluster, whose nodes the client finds.
type connection struct {
	client    valkey.Client
	isCluster bool
	usable    atomic.Bool // the circuit is closed
	broken    atomic.Bool // the failure that opened the circuit concerns the connection or the server
	misses    atomic.Int32
}

// call implements server.
func (c *connection) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	reply, err := takeScript.Exec(ctx, c.client, q.keys, q.args()).AsFloatSlice()
	if err != nil {
		return false, err
	}
	return q.parseReply(reply)
}

// probeLimits accept every probe, so that each probe writes to the server, as a
// request does.
var probeLimits = throttle.Compile(throttle.Grant{Delay: robots.CrawlDelay{Delay: 2 * time.Microsecond}})

// close closes c, which may be nil.
func (c *connection) close() {
	if c != nil {
		c.client.Close()
	}
}
