package throttle

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
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
)

// link is the connection to the server with its circuit breaker. Requests use
// it while the circuit is closed; one goroutine connects, and probes while the
// circuit is open, so that no request does.
type link struct {
	config FleetConfig
	obs    Observer
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	opened chan struct{} // wakes the goroutine

	misses atomic.Int32
	usable atomic.Pointer[scripted] // nil while the circuit is open

	mu    sync.Mutex
	state FleetState
}

func newLink(c FleetConfig, obs Observer) *link {
	ctx, cancel := context.WithCancel(context.Background())
	l := &link{config: c, obs: obs, cancel: cancel, done: make(chan struct{}), opened: make(chan struct{}, 1)}
	go l.run(ctx)
	return l
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

// failed tells of a request that got no answer. What the server itself says,
// and a missed deadline, may be about that request alone.
func (l *link) failed(err error) {
	_, replied := valkey.IsValkeyErr(err)
	misses := l.misses.Add(1)
	if misses < missesToOpen && (replied || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errReply)) {
		return
	}
	if l.usable.Load() == nil {
		return // opened by another request, or closed for good
	}
	l.become(FleetDown, nil, err)
	select {
	case l.opened <- struct{}{}:
	default:
	}
}

// become sets the state, and what requests may ask in it.
func (l *link) become(state FleetState, s *scripted, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usable.Store(s)
	if l.state != state {
		l.state = state
		l.obs.FleetState(state, err)
	}
}

func (l *link) current() FleetState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// run connects, and then closes the circuit each time that the server answers
// again.
func (l *link) run(ctx context.Context) {
	defer close(l.done)
	var client valkey.Client
	defer func() {
		l.usable.Store(nil)
		if client != nil {
			client.Close()
		}
	}()
	for ctx.Err() == nil {
		ok := retry(ctx, func() (err error) {
			if client == nil {
				client, err = valkey.NewClient(l.options(ctx))
			}
			if err == nil {
				err = l.probe(ctx, client)
			}
			if err != nil && ctx.Err() == nil {
				l.become(FleetDown, nil, err)
			}
			return err
		})
		if !ok {
			return
		}
		l.misses.Store(0)
		l.become(FleetUp, &scripted{client}, nil)
		select {
		case <-l.opened:
		case <-ctx.Done():
		}
	}
}

// retry calls f until it succeeds, with pauses that grow, and reports false
// if ctx ends before.
func retry(ctx context.Context, f func() error) bool {
	for pause := probeEvery; ; pause = min(2*pause, probeAtMost) {
		if ctx.Err() != nil {
			return false
		}
		if f() == nil {
			return true
		}
		// Not all instances at the same time.
		timer := time.NewTimer(pause/2 + rand.N(pause/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// probeTerms accept a request a millisecond, so that a probe does all that a
// request does.
var probeTerms = mustLimit(CrawlDelay, time.Millisecond)

func mustLimit(why Reason, interval time.Duration) *Terms {
	l, _ := newLimit(why, 1, interval, 1, DefaultMaxDelay)
	l.window = wholeDay
	t := &Terms{}
	t.setLimits([]limit{l})
	return t
}

func (l *link) probe(ctx context.Context, client valkey.Client) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	start := time.Now()
	_, err := scripted{client}.ask(ctx, question{key: l.config.Prefix + "probe", terms: probeTerms, known: &arrivals{}})
	l.obs.FleetCall(time.Since(start), err)
	return err
}

// options returns the client's options. Requests are pipelined over one
// connection, or two, and never sent twice: the first may have been counted.
func (l *link) options(ctx context.Context) valkey.ClientOption {
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
		DialCtxFn:          dialWithin(ctx),
		AlwaysPipelining:   true,
		PipelineMultiplex:  1,
		DisableRetry:       true,
		DisableCache:       true,
		ReadBufferEachConn: 1 << 14, WriteBufferEachConn: 1 << 14,
	}
}

// dialWithin returns a function to connect that gives up when outer ends.
func dialWithin(outer context.Context) func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
	return func(ctx context.Context, address string, d *net.Dialer, t *tls.Config) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(outer, cancel)()
		if strings.HasPrefix(address, "/") {
			return d.DialContext(ctx, "unix", address)
		}
		if t != nil {
			return (&tls.Dialer{NetDialer: d, Config: t}).DialContext(ctx, "tcp", address)
		}
		return d.DialContext(ctx, "tcp", address)
	}
}

// close opens the circuit for good and ends the goroutine.
func (l *link) close() {
	l.usable.Store(nil)
	l.cancel()
}
