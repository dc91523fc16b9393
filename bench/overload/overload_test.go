package overload

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkRobots sends 20 requests of people a second to a back end of ten workers, and
// 200 robots at once. It reports how long people wait, the 99th percentile: alone, with
// robots, and with in_flight.
func BenchmarkRobots(b *testing.B) {
	runs := []struct {
		name, shed string
		robots     int
		from, end  time.Duration
	}{
		{"alone", "", 0, time.Second, 15 * time.Second},
		{"robots", "", 200, time.Second, 15 * time.Second},
		{"in_flight", "in_flight 8", 200, time.Second, 15 * time.Second},
	}
	for b.Loop() {
		p99, all := make([]time.Duration, len(runs)), new(sync.WaitGroup)
		for i, run := range runs {
			lines := ""
			if run.shed != "" {
				lines = "\t\tshed {\n\t\t\t" + run.shed + "\n\t\t}\n"
			}
			s := start(b, 10, lines)
			all.Go(func() { p99[i] = crowd(s, run.robots, run.from, run.end) })
		}
		all.Wait()
		for i, run := range runs {
			b.ReportMetric(float64(p99[i].Milliseconds()), run.name+"-ms")
			b.ReportMetric(float64(p99[i])/float64(p99[0]), run.name+"-ratio")
		}
	}
}

// crowd sends requests of people and of robots until end, and returns the 99th percentile
// of the times for which people waited after from.
func crowd(s *site, robots int, from, end time.Duration) time.Duration {
	ctx, stop := context.WithTimeout(context.Background(), end)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	robot, people := &clients{ua: gptbot, path: "/"}, &clients{ua: chrome, path: "/"}
	for range robots {
		all.Go(func() {
			for ctx.Err() == nil {
				if robot.get(ctx, s, "192.0.2.1") == http.StatusServiceUnavailable {
					time.Sleep(time.Second)
				}
			}
		})
	}
	people.every(ctx, s, 20)
	return people.percentile(99, from)
}

// attackTime is how long an attack takes.
const attackTime = 20 * time.Second

// The lines that BenchmarkAttacks compares.
const (
	shed  = "\t\tshed {\n\t\t\tin_flight 7\n\t\t}\n"
	limit = "\t\tlimit /archive/* {\n\t\t\tat_once 4\n\t\t}\n"
)

// BenchmarkAttacks turns idle bodies, slow readers, disguised browsers and a back end that
// stalls against a site, without lines, with shed, and with limit too, beside ten people,
// two AI crawlers, a feed reader and a search engine a second. It reports how long people
// wait, and what share of each kind is served.
func BenchmarkAttacks(b *testing.B) {
	attacks := []struct {
		name string
		run  func(ctx context.Context, s *site)
	}{
		{"none", func(context.Context, *site) {}},
		{"idle_bodies", func(_ context.Context, s *site) {
			for i := range 40 {
				s.idle([]string{"GET", "POST"}[i%2], "/archive/h", fmt.Sprintf("Crawler%d/1.0 (+http://bot.test)", i), "Content-Length: 1000\r\n\r\nx")
			}
		}},
		{"slow_readers", func(_ context.Context, s *site) {
			for i := range 20 {
				s.idle("GET", "/archive/big", fmt.Sprintf("Crawler%d/1.0 (+http://bot.test)", i), "\r\n")
			}
		}},
		{"disguised", func(ctx context.Context, s *site) { (&clients{ua: chrome, path: "/"}).every(ctx, s, 120) }},
		{"stalled", func(_ context.Context, s *site) {
			s.stalled.Store(true)
			time.Sleep(attackTime / 2)
			s.stalled.Store(false)
		}},
	}
	lines := []struct{ name, lines string }{{"without", ""}, {"shed", shed}, {"limit", shed + limit}}
	for b.Loop() {
		var all sync.WaitGroup
		results := make([]string, len(attacks)*len(lines))
		p95 := make([]time.Duration, len(results))
		for i := range results {
			attack, line := attacks[i/len(lines)], lines[i%len(lines)]
			s := start(b, 8, line.lines)
			all.Go(func() {
				kinds := everybody(s, attack.run)
				people := kinds[0]
				p95[i] = people.percentile(95, 0)
				results[i] = fmt.Sprintf("%-12s %-7s people p50 %5d ms, p95 %5d ms", attack.name, line.name,
					people.percentile(50, 0).Milliseconds(), p95[i].Milliseconds())
				for _, k := range kinds {
					results[i] += ", " + k.served()
				}
			})
		}
		all.Wait()
		b.Log("\n" + strings.Join(results, "\n"))
		for i := range results {
			b.ReportMetric(float64(p95[i].Milliseconds()), attacks[i/len(lines)].name+"-"+lines[i%len(lines)].name+"-p95-ms")
		}
	}
}

// everybody sends the requests of people and of robots beside an attack.
func everybody(s *site, attack func(context.Context, *site)) []*clients {
	ctx, stop := context.WithTimeout(context.Background(), attackTime)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { attack(ctx, s) })
	kinds := []*clients{
		{name: "people", ua: chrome, path: "/"}, {name: "robots", ua: gptbot, path: "/archive/x"}, {name: "feeds", ua: feedly, path: "/feed"},
		{name: "search", ua: googlebot, path: "/"},
	}
	for i, n := range []int{10, 2, 1, 1} {
		all.Go(func() { kinds[i].every(ctx, s, n) })
	}
	return kinds
}
