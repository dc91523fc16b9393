package challenge

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// The size of a storm, from the environment: STORM_RATE addresses a second for STORM_TIME,
// at the sites of STORM_KINDS (all without it), where STORM_OVER documents are few. A
// third of that time comes first without the line `challenge`. STORM_CROWD people visit a
// site in that time.
var (
	stormRate  = number("STORM_RATE", 10)
	stormTime  = time.Duration(number("STORM_TIME", 38)) * time.Second
	stormCrowd = number("STORM_CROWD", 300)
	stormOver  = cmp.Or(os.Getenv("STORM_OVER"), "10/10s")
	stormKinds = strings.FieldsFunc(os.Getenv("STORM_KINDS"), func(c rune) bool { return c == ',' })
)

// onAfter is after what time a storm has to be held.
const onAfter = 30 * time.Second

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// arena is a back end with the sites of a storm.
type arena struct {
	server  *server.Server
	port    string
	workers map[string]chan struct{} // by host
	mu      sync.Mutex
	reached map[string]int // requests of the storm by host, after onAfter
	token   atomic.Pointer[string]
	pass    atomic.Pointer[visitor]
}

// chosen returns the storms of STORM_KINDS.
func chosen(name string) bool { return len(stormKinds) == 0 || slices.Contains(stormKinds, name) }

const arenaSite = `http://%s:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /blame/
			TXT
		%s
	}
	reverse_proxy %s
}
`

// startArena starts the sites: NAME.with.test and NAME.without.test.
func startArena(b *testing.B) *arena {
	a := &arena{workers: make(map[string]chan struct{}), reached: make(map[string]int)}
	backend := httptest.NewServer(a)
	b.Cleanup(backend.Close)
	text := "{\n\tauto_https off\n\tlog {\n\t\tlevel ERROR\n\t}\n}\n"
	for _, k := range append(names(), "crowd", "idle") {
		for _, line := range []string{"with", "without"} {
			challenge := ""
			if line == "with" {
				challenge = "challenge disallowed {\n\t\t\tover " + stormOver + "\n\t\t}"
			}
			host := k + "." + line + ".test"
			a.workers[host] = make(chan struct{}, 10)
			text += fmt.Sprintf(arenaSite, host, challenge, strings.TrimPrefix(backend.URL, "http://"))
		}
	}
	a.server = server.Start(b, text)
	a.port = strconv.Itoa(a.server.Port)
	return a
}

func names() (all []string) {
	for _, k := range kinds {
		if chosen(k.name) {
			all = append(all, k.name)
		}
	}
	return all
}

// ServeHTTP is the back end: a page below /blame/ takes one of ten workers 200 ms.
func (a *arena) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := strings.Split(r.Host, ":")[0]
	if strings.HasPrefix(r.URL.Path, "/blame/late") {
		a.mu.Lock()
		a.reached[host]++
		a.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/html")
	if strings.HasSuffix(r.URL.Path, ".css") {
		w.Header().Set("Content-Type", "text/css")
	}
	if strings.HasPrefix(r.URL.Path, "/blame/") && !strings.HasPrefix(host, "crowd") {
		select {
		case a.workers[host] <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		time.Sleep(200 * time.Millisecond)
		<-a.workers[host]
	}
	fmt.Fprint(w, "<!DOCTYPE html><title>Page</title>")
}

var lastAddress atomic.Int64

func (a *arena) visitor(host, agent, fields string) *visitor {
	return &visitor{port: a.port, host: host, from: address(int(lastAddress.Add(1))), agent: agent, fields: fields}
}

// storm sends a storm to a site until ctx ends, and returns how many requests it sent
// after onAfter.
func (a *arena) storm(ctx context.Context, host string, run stormer) (late int) {
	began := time.Now()
	var sent atomic.Int64
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(stormRate))
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		when, isLate := "early", time.Since(began) >= onAfter
		if isLate {
			when = "late"
		}
		all.Go(func() {
			requests := run(a, a.visitor(host, stormAgent, chromeFields), n, fmt.Sprintf("/blame/%s-%d", when, n))
			if isLate {
				sent.Add(int64(requests))
			}
		})
		<-tick.C
	}
	all.Wait()
	return int(sent.Load())
}

// fared is how some clients fared.
type fared struct {
	mu     sync.Mutex
	waits  []time.Duration
	failed map[int]int // by status
}

func (f *fared) add(took time.Duration, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waits = append(f.waits, took); status != http.StatusOK {
		if f.failed == nil {
			f.failed = make(map[int]int)
		}
		f.failed[status]++
	}
}

// percentile returns a percentile of the waits in milliseconds.
func (f *fared) percentile(p int) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waits) == 0 {
		return 0
	}
	slices.Sort(f.waits)
	return float64(f.waits[len(f.waits)*p/100].Microseconds()) / 1000
}

func (f *fared) String() string {
	return fmt.Sprintf("p50 %.0f p95 %.0f ms, %d of %d refused %v", f.percentile(50), f.percentile(95), f.refused(), len(f.waits), f.failed)
}

func (f *fared) refused() (n int) {
	for _, k := range f.failed {
		n += k
	}
	return n
}

// every calls visit every interval, until ctx ends.
func every(ctx context.Context, interval time.Duration, visit func(n int)) {
	var all sync.WaitGroup
	defer all.Wait()
	for n := 0; ; n++ {
		all.Go(func() { visit(n) })
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
	}
}

// fareds is how the clients of a site fared: people who have a pass, before and after
// onAfter, new people, and others.
type fareds struct{ early, people, firsts, others fared }

// people visits a site with two people who have a pass, with new people, and with its
// other clients, until ctx ends.
func (a *arena) people(ctx context.Context, host string) *fareds {
	var f fareds
	var all sync.WaitGroup
	began := time.Now()
	for range 2 {
		p := a.visitor(host, stormAgent, chromeFields)
		all.Go(func() {
			every(ctx, 1500*time.Millisecond, func(n int) {
				when := &f.people
				if time.Since(began) < onAfter {
					when = &f.early
				}
				page, _, _ := p.browse(fmt.Sprint("/blame/person-", n))
				_, _ = p.send(http.MethodGet, "/style.css", styleFields)
				when.add(page.took, page.status)
			})
		})
	}
	all.Go(func() {
		every(ctx, time.Second, func(n int) {
			p := a.visitor(host, stormAgent, chromeFields)
			page, extra, _ := p.browse(fmt.Sprint("/blame/first-", n))
			_, _ = p.send(http.MethodGet, "/style.css", styleFields)
			if extra > 0 && time.Since(began) >= onAfter {
				f.firsts.add(extra, page.status)
			}
		})
	})
	all.Go(func() {
		every(ctx, time.Second, func(n int) {
			p := public[n%len(public)]
			v := a.visitor(host, p.agent, p.fields)
			got, _ := v.open(p.target)
			f.others.add(got.took, got.status)
			if p.fields == chromeFields {
				_, _ = v.send(http.MethodGet, "/style.css", styleFields)
			}
		})
	})
	all.Wait()
	return &f
}

// crowd sends real people to a site: each opens a page and its files, but one in five has
// the files in its cache. It returns how many did not get the page.
func (a *arena) crowd(ctx context.Context) (visitors, refused int64) {
	var n, bad atomic.Int64
	every(ctx, stormTime/time.Duration(stormCrowd), func(i int) {
		p := a.visitor("crowd.with.test", stormAgent, chromeFields)
		n.Add(1)
		if page, _ := p.open(fmt.Sprint("/blame/crowd-", i%50)); page.status != http.StatusOK {
			bad.Add(1)
		}
		for file := 0; file < 3 && i%5 > 0; file++ {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
			_, _ = p.send(http.MethodGet, fmt.Sprintf("/file-%d.css", file), styleFields)
		}
	})
	return n.Load(), bad.Load()
}

// BenchmarkStorm lets strangers storm sites, with and without the line `challenge`.
func BenchmarkStorm(b *testing.B) {
	for b.Loop() {
		a := startArena(b)
		b.Logf("%d addresses a second for %s, over %s", stormRate, stormTime, stormOver)
		a.run(b, "without", stormTime/3)
		var visitors, refused int64
		var crowd sync.WaitGroup
		crowd.Go(func() {
			ctx, stop := context.WithTimeout(context.Background(), stormTime)
			defer stop()
			visitors, refused = a.crowd(ctx)
		})
		a.run(b, "with", stormTime)
		crowd.Wait()
		b.Logf("flash crowd: %d visitors, %d challenged", visitors, refused)
		if refused > 0 {
			b.Errorf("%d of %d people of a flash crowd were challenged", refused, visitors)
		}
	}
}

// within calls visit with a context that ends after a time.
func within[T any](d time.Duration, visit func(context.Context) T) T {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	return visit(ctx)
}

// run lets all storms go on for a time, with or without the line.
func (a *arena) run(b *testing.B, line string, length time.Duration) {
	var all sync.WaitGroup
	var mu sync.Mutex
	results, people := make(map[string]string), make(map[string]*fareds)
	began := a.server.Processor()
	requests, per, _ := strings.Cut(stormOver, "/")
	over, _ := strconv.Atoi(requests)
	window, _ := time.ParseDuration(per)
	var idle *fareds // of a site without a storm, at the same time
	all.Go(func() {
		idle = within(length, func(ctx context.Context) *fareds { return a.people(ctx, "idle."+line+".test") })
	})
	for _, k := range kinds {
		if !chosen(k.name) {
			continue
		}
		host := k.name + "." + line + ".test"
		all.Go(func() {
			var late int
			var f *fareds
			var both sync.WaitGroup
			both.Go(func() {
				late = within(length, func(ctx context.Context) int { return a.storm(ctx, host, k.run) })
			})
			if k.bound != nil {
				both.Go(func() {
					within(length, func(ctx context.Context) bool {
						every(ctx, time.Second/10, func(n int) {
							_, _ = a.visitor(host, stormAgent, chromeFields).open(fmt.Sprint("/blame/more-", n))
						})
						return true
					})
				})
			}
			both.Go(func() { f = within(length, func(ctx context.Context) *fareds { return a.people(ctx, host) }) })
			both.Wait()
			a.mu.Lock()
			reached := a.reached[host]
			a.mu.Unlock()
			mu.Lock()
			defer mu.Unlock()
			results[k.name] = fmt.Sprintf("%-13s %-7s reached %4d of %5d; people in the first %v %v; then %v; first visit + %v; others %v",
				k.name, line, reached, late, onAfter, &f.early, &f.people, &f.firsts, &f.others)
			if people[k.name] = f; line == "without" {
				return
			}
			most := late * 2 / 100
			if k.bound != nil {
				most = max(most, int(k.bound(over, window, length-onAfter+time.Second)))
			}
			if reached > most {
				b.Errorf("%s: %d of %d requests reached the back end, at most %d may", k.name, reached, late, most)
			}
			for _, kind := range []*fared{&f.early, &f.people, &f.firsts, &f.others} {
				if n := kind.failed[http.StatusTooManyRequests]; n > 0 { // the machine may be too slow for the rest
					b.Errorf("%s: %d requests of people and others were refused", k.name, n)
				}
			}
			b.ReportMetric(100*float64(reached)/float64(max(1, late)), k.name+"-%")
		})
	}
	all.Wait()
	for _, name := range names() {
		b.Log(results[name])
		if line == "with" && len(idle.people.waits) > 0 {
			b.ReportMetric(people[name].people.percentile(95)/idle.people.percentile(95), name+"-p95/idle")
		}
	}
	b.Logf("%s: idle: people %v; then %v", line, &idle.early, &idle.people)
	b.Logf("%s: processor time of the server %v", line, a.server.Processor()-began)
}
