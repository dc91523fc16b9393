package fleet

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// silentServer is a server that accepts connections but never answers. It sends
// to ended for each connection that the client has closed.
type silentServer struct {
	net.Listener
	accepted chan struct{}
	ended    chan struct{}
	wait     func()
}

func newSilentServer(t *testing.T) *silentServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	s := &silentServer{listener, make(chan struct{}, 100), make(chan struct{}, 100), func() { listener.Close(); group.Wait() }}
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.accepted <- struct{}{}
			group.Go(func() {
				defer conn.Close()
				io.Copy(io.Discard, conn)
				s.ended <- struct{}{}
			})
		}
	})
	return s
}

// Close ends the goroutine and closes all connections, also while the limiter
// connects, and does not wait for a server that does not answer.
func TestFleetCloseWhileConnecting(t *testing.T) {
	for name, change := range map[string]func(c *config, other *silentServer){
		"one server": func(*config, *silentServer) {},
		"more nodes": func(c *config, other *silentServer) { c.InitAddress = append(c.InitAddress, other.Addr().String()) },
		"a sentinel": func(c *config, _ *silentServer) { c.Sentinel.MasterSet = "main" },
		"TLS":        func(c *config, _ *silentServer) { u, _ := parseURL("rediss://h"); c.TLSConfig = u.TLSConfig },
	} {
		t.Run(name, func(t *testing.T) {
			current := goleak.IgnoreCurrent()
			s, other := newSilentServer(t), newSilentServer(t)
			c := config{ClientOption: at(s.Addr().String())}
			change(&c, other)
			r := newRecorder()
			f := newLimiter(c, throttle.NewMemory(100), r)
			f.connect()
			for range c.InitAddress {
				select {
				case <-s.accepted:
				case <-other.accepted:
				}
			}
			f.close()
			if len(r.states) > 0 {
				if s := <-r.states; s != stateDown {
					t.Errorf("the state became %v", s)
				}
			}
			s.wait() // until all its connections are closed
			other.wait()
			if err := goleak.Find(clientGoroutines(current)...); err != nil {
				t.Error(err)
			}
		})
	}
}

// Close can be called at any time, also concurrently with itself and with Take. A closed
// limiter still decides.
func TestFleetCloseAtAnyTime(t *testing.T) {
	defer goleak.VerifyNone(t, clientGoroutines(goleak.IgnoreCurrent())...)
	mini := miniredis.RunT(t)
	defer mini.Close()
	for i := range 50 {
		r := newRecorder()
		f := newLimiter(config{ClientOption: at([]string{mini.Addr(), mini.Addr()}[:1+i%2]...)}, throttle.NewMemory(100), r)
		f.connect()
		if i%3 == 0 {
			r.await(t, stateUp)
		}
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() { f.close() })
			group.Go(func() {
				for i := range 10 {
					f.Take(t.Context(), noon, []throttle.Use{{Key: newKey(fmt.Sprint(i)), Limits: hourly}})
				}
			})
		}
		group.Wait()
		if f.server() != nil {
			t.Fatal("a closed limiter has a server")
		}
		for _, ok := range []bool{true, false} {
			if r := f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("closed"), Limits: hourly}}); r.OK != ok {
				t.Errorf("%+v, want %t", r, ok)
			}
		}
	}
}
