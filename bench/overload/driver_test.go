package overload

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	gptbot    = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	feedly    = "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)"
)

// patience is how long a client waits for its answer.
const patience = 10 * time.Second

// site is a server in front of a back end of its own.
type site struct {
	*server.Server
	b       *testing.B
	stalled atomic.Bool // the back end answers nothing
}

// start starts a server with lines in the block robots. The back end has some workers, each
// of which takes a tenth of a second, and holds a request from its head to the end of its
// body and of its answer, as PHP's do.
func start(b *testing.B, workers int, lines string) *site {
	s, free := &site{b: b}, make(chan struct{}, workers)
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		select {
		case free <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		defer func() { <-free }()
		_, _ = io.Copy(io.Discard, r.Body)
		for time.Sleep(100 * time.Millisecond); s.stalled.Load() && r.Context().Err() == nil; {
			time.Sleep(10 * time.Millisecond)
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/archive/big" {
			_, _ = w.Write(make([]byte, 32<<20))
			return
		}
		fmt.Fprint(w, "page")
	}))
	b.Cleanup(backend.Close)
	timeouts := ""
	if lines != "" {
		timeouts = "timeouts {\n\t\t\twrite_idle 3s\n\t\t}\n\t\t"
	}
	s.Server = server.Start(b, "{\n\tservers {\n\t\t"+timeouts+"trusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\nhttp://localhost:$PORT {\n\trobots {\n\t\trefresh 1h\n"+
		lines+"\t}\n\treverse_proxy "+strings.TrimPrefix(backend.URL, "http://")+"\n}\n")
	new(clients).get(context.Background(), s, "192.0.2.1")
	return s
}

// clients are clients of one kind, and how they fare.
type clients struct {
	name, ua, path string

	mu    sync.Mutex
	waits []wait
}

// wait is how long a client waited for an answer; its status is 0 if there was none.
type wait struct {
	began, took time.Duration // began: after the first one
	status      int
}

var transport = &http.Transport{MaxIdleConnsPerHost: 500}

// get sends a request from an address, and returns the status.
func (c *clients) get(ctx context.Context, s *site, from string) int {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL(c.path), nil)
	r.Header = http.Header{"User-Agent": {c.ua}, "X-Forwarded-For": {from}, "Accept": {"text/html"}}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// every sends n requests a second until ctx ends, each from another address, and waits
// for their answers.
func (c *clients) every(ctx context.Context, s *site, n int) {
	tick, begin := time.NewTicker(time.Second/time.Duration(n)), time.Now()
	defer tick.Stop()
	var all sync.WaitGroup
	for i := 0; ctx.Err() == nil; i++ {
		all.Go(func() {
			at := time.Now()
			status := c.get(context.Background(), s, fmt.Sprintf("198.51.%d.%d", len(c.ua)%200, i%250))
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waits = append(c.waits, wait{at.Sub(begin), time.Since(at), status})
		})
		<-tick.C
	}
	all.Wait()
}

// percentile returns the time for which a part of the clients that came after from
// waited no longer.
func (c *clients) percentile(part int, from time.Duration) time.Duration {
	var list []time.Duration
	for _, w := range c.waits {
		if w.began >= from {
			list = append(list, w.took)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*part/100]
}

// served returns what share of the requests was served, and the statuses of the others, 0
// for no answer.
func (c *clients) served() string {
	statuses := make(map[int]int)
	for _, w := range c.waits {
		statuses[w.status]++
	}
	text := fmt.Sprintf("%s %d %%", c.name, 100*statuses[200]/len(c.waits))
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		if status != 200 {
			text += fmt.Sprintf(" (%d: %d)", status, statuses[status])
		}
	}
	return text
}

// idle sends the beginning of a request over a connection that it neither reads nor
// writes to any more.
func (s *site) idle(method, path, ua, rest string) {
	conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.Port))
	if err != nil {
		s.b.Error(err)
		return
	}
	s.b.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: %s\r\n%s", method, path, s.Port, ua, rest)
}
