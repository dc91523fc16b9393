package memory

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// perHost answers for each host with a file of its own.
type perHost struct{ files [][]byte }

func (perHost) PerOrigin() bool { return true }

func (s perHost) Fetch(_ context.Context, o judge.Origin) (judge.Response, error) {
	return judge.Response{Status: http.StatusOK, Body: s.file(number(o.Host))}, nil
}

func (s perHost) file(i uint64) []byte { return vary(s.files[i%uint64(len(s.files))], i) }

func number(host string) (n uint64) {
	_, _ = fmt.Sscanf(host, "h%d.test", &n)
	return n
}

// BenchmarkHosts measures the heap of a host with a robots.txt of its own, and
// what the plugin estimates: for files of the size of the median of 1,660 real
// ones, of their mean, and for all files. It is measured before a crawler has come,
// after crawlers that obey the group for *, and after crawlers of all groups, which
// the estimate is for.
func BenchmarkHosts(b *testing.B) {
	all := realFiles(b)
	for _, bb := range []struct {
		name  string
		files [][]byte
	}{{"median", about(all, 635)}, {"mean", about(all, 1700)}, {"all", all}} {
		b.Run(bb.name, func(b *testing.B) {
			const hosts = 3000
			for b.Loop() {
				measureHosts(b, perHost{bb.files}, hosts)
			}
			b.ReportMetric(float64(mean(bb.files)), "file-octets")
		})
	}
}

func measureHosts(b *testing.B, source perHost, hosts int) {
	b.Helper()
	ceiling := origins.NewCeiling(1 << 40)
	e, err := enforce.NewEngine(judge.Settings{}, source, throttle.NewMemory(16), enforce.NewMemory(16, 16), origins.Config{
		MaxOrigins: hosts, Ceiling: ceiling, Copies: new(origins.Copies),
		Handler: func() origins.HandlerKey { return origins.HandlerKey{} },
	})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	e.Origins().Connect()
	before := heap()
	for i := range hosts {
		r := &judge.Request{Origin: judge.NewOrigin("https", fmt.Sprintf("h%d.test", i), 443), Time: time.Now()}
		e.Origins().Prefetch(context.Background(), r)
	}
	unused := heap() - before
	e.Origins().All(func(_ judge.Origin, rules *judge.Rules) { rules.File().Star().Match("/") })
	star := heap() - before
	e.Origins().All(func(_ judge.Origin, rules *judge.Rules) {
		for _, g := range rules.File().Groups() {
			g.Match("/")
		}
	})
	took := heap() - before
	used, _ := ceiling.Usage()
	b.ReportMetric(float64(unused)/float64(hosts), "unused-heap/host")
	b.ReportMetric(float64(star)/float64(hosts), "star-heap/host")
	b.ReportMetric(float64(took)/float64(hosts), "heap/host")
	b.ReportMetric(float64(used)/float64(hosts), "estimate/host")
	if name := os.Getenv("HEAP_PROFILE"); name != "" {
		f, err := os.Create(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		_ = pprof.WriteHeapProfile(f)
	}
	runtime.KeepAlive(e)
}

// heap returns the octets that are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
