package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

// redis is a redis-server that a test can stop and start.
type redis struct {
	t    *testing.T
	port int
	cmd  *exec.Cmd
}

// newRedis starts a redis-server. It returns nil if none is installed.
func newRedis(t *testing.T) *redis {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil
	}
	r := &redis{t: t, port: freePort(t)}
	r.start()
	t.Cleanup(r.kill)
	return r
}

func (r *redis) start() {
	r.t.Helper()
	r.cmd = child.Command("redis-server", "--port", fmt.Sprint(r.port), "--save", "", "--appendonly", "no")
	r.cmd.Dir = r.t.TempDir()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *redis) kill() {
	if r.cmd != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		r.cmd = nil
	}
}

func (r *redis) signal(s syscall.Signal) { _ = r.cmd.Process.Signal(s) }

// fleet starts n servers that share a Redis, and waits until they are connected.
// They listen on different addresses and on the same port, because the port is
// part of the origin.
func fleet(t *testing.T, n int, redisAddress, delay string) []*server {
	t.Helper()
	servers := make([]*server, n)
	port := freePort(t)
	for i := range servers {
		servers[i] = startAt(t, fmt.Sprintf("127.0.0.%d", i+2), port, fmt.Sprintf(`http://:$PORT {
	bind $HOST
	robots {
		source inline <<TXT
			User-agent: bingbot
			Crawl-delay: %s
			TXT
		fleet redis://%s {
			instances %d
		}
	}
	respond "page"
}`, delay, redisAddress, n))
	}
	for _, s := range servers {
		s.eventually("the server shares budgets", func() bool {
			s.get(chrome, "/")
			return s.metric("caddy_robots_fleet_up") == 1
		})
	}
	return servers
}

// crawl sends requests of one crawler and of a person to all servers, many in a second,
// while f runs. It returns the number of the crawler's requests that
// were allowed.
func crawl(t *testing.T, servers []*server, f func()) int {
	t.Helper()
	var accepted, slowest atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	for _, s := range servers {
		url := fmt.Sprintf("http://%s:%d/", s.host, s.port)
		wg.Go(func() {
			for !stop.Load() {
				resp, err := send(client, http.MethodGet, url, bingbot, "site.test", nil)
				switch {
				case err != nil || resp.status != 200 && resp.status != 429:
					t.Errorf("the crawler: status %d, %v", resp.status, err)
					return
				case resp.status == 200:
					accepted.Add(1)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		wg.Go(func() {
			for !stop.Load() {
				began := time.Now()
				resp, err := send(client, http.MethodGet, url, chrome, "site.test", nil)
				if err != nil || resp.status != 200 {
					t.Errorf("a person: status %d, %v", resp.status, err)
					return
				}
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	f()
	stop.Store(true)
	wg.Wait()
	t.Logf("%d servers: %d accepted; a person waited %v at most", len(servers), accepted.Load(), time.Duration(slowest.Load()))
	return int(accepted.Load())
}

func TestFleetSurvivesARedisOutage(t *testing.T) {
	t.Parallel()
	r := newRedis(t)
	if r == nil {
		t.Log("redis-server is not installed: nothing is tested")
		return
	}
	servers := fleet(t, 2, fmt.Sprintf("localhost:%d", r.port), "0.5")
	all := func(up float64) func() bool {
		return func() bool {
			for _, s := range servers {
				if s.metric("caddy_robots_fleet_up") != up {
					return false
				}
			}
			return true
		}
	}
	for _, outage := range []struct {
		name        string
		begin, over func()
	}{
		{"killed", r.kill, r.start},
		{"paused", func() { r.signal(syscall.SIGSTOP) }, func() { r.signal(syscall.SIGCONT) }},
	} {
		began := time.Now()
		got := crawl(t, servers, func() {
			outage.begin()
			servers[0].eventually("the outage is noticed", all(0))
			time.Sleep(3 * time.Second)
			outage.over()
			servers[0].eventually("budgets are shared again", all(1))
		})
		span := time.Since(began)
		// At each change, each server may allow one request beyond the budget.
		if most := int(span.Seconds()/(0.9*0.5)) + 2 + 2*len(servers); got > most {
			t.Errorf("%s: %d requests of one crawler in %v, want at most %d", outage.name, got, span, most)
		}
		if got < 3 {
			t.Errorf("%s: %d requests of one crawler in %v, want at least 3", outage.name, got, span)
		}
	}
	if len(servers[0].lines("fleet: Redis does not answer: each server counts alone until it answers again")) == 0 {
		t.Error("the outage is not in the log")
	}
	if strings.Contains(string(servers[0].log.bytes()), "panic") {
		t.Error("there is a panic in the log")
	}
}
