package dashboard

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// floodTime is the duration of a flood.
const floodTime = 5 * time.Second

// flooders is the number of connections of the crawler.
const flooders = 8

// BenchmarkFlood measures how long a person waits during a flood: a crawler that is
// denied everything sends requests as fast as possible. closed is without the
// dashboard, open is with the dashboard in a browser. Server, crawler, person and
// browser share the machine.
func BenchmarkFlood(b *testing.B) {
	s := server.Start(b, site)
	b.Run("closed", func(b *testing.B) { flood(b, s) })
	open(b, s.URL("/ops/deep/"), 1440)
	b.Run("open", func(b *testing.B) { flood(b, s) })
}

// flood measures a person's requests during a flood.
func flood(b *testing.B, s *server.Server) {
	var latencies []time.Duration
	var denials int64
	var took time.Duration
	for b.Loop() {
		var stop atomic.Bool
		var answered atomic.Int64
		var all sync.WaitGroup
		for range flooders {
			crawler := dial(b, s, gptbot)
			all.Go(func() {
				for ; !stop.Load(); answered.Add(1) {
					crawler.ask(http.StatusForbidden)
				}
			})
		}
		began := time.Now()
		for person := dial(b, s, chrome); time.Since(began) < floodTime; time.Sleep(2 * time.Millisecond) {
			asked := time.Now()
			person.ask(http.StatusOK)
			latencies = append(latencies, time.Since(asked))
		}
		stop.Store(true)
		all.Wait()
		took += time.Since(began)
		denials += answered.Load()
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(denials)/took.Seconds(), "denials/s")
	b.ReportMetric(float64(latencies[len(latencies)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(latencies[len(latencies)*99/100].Microseconds()), "p99-µs")
}

// client sends requests over one connection.
type client struct {
	tb      testing.TB
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
}

func dial(tb testing.TB, s *server.Server, ua string) *client {
	conn, err := net.Dial("tcp", net.JoinHostPort("localhost", strconv.Itoa(s.Port)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	request := fmt.Sprintf("GET /products/table HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: %s\r\n\r\n", s.Port, ua)
	return &client{tb, conn, bufio.NewReader(conn), []byte(request)}
}

// ask sends a request and reads the answer.
func (c *client) ask(want int) {
	_, _ = c.conn.Write(c.request)
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		c.tb.Error(err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != want {
		c.tb.Errorf("status %d, want %d", resp.StatusCode, want)
	}
}
