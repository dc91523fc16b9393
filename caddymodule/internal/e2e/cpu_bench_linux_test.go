package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ticksPerSecond is the unit of CPU times in /proc (proc(5), USER_HZ).
const ticksPerSecond = 100

// cpuSeconds returns the CPU time that the server has used.
func (s *server) cpuSeconds() float64 {
	s.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	// The second field, the name in brackets, may contain blanks.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	ticks := 0.0
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		ticks += n
	}
	return ticks / ticksPerSecond
}

// BenchmarkServerCPU measures the CPU time of the whole server process for each
// request, in cpu-µs/request. file_server sends a page of 27 KB: without the
// plugin, and with the plugin for browsers, for refused crawlers, and for a mix in
// which every tenth request is a crawler's. Compare results of one run only.
func BenchmarkServerCPU(b *testing.B) {
	const rules = `robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/

			User-agent: GPTBot
			Disallow: /

			User-agent: bingbot
			Crawl-delay: 1000
			TXT
	}`
	browser := func(i int) string {
		return strings.Replace(chrome, "Chrome/131", fmt.Sprintf("Chrome/%d", 100+i%40), 1)
	}
	for _, bb := range []struct {
		name, rules string
		agent       func(i int) string
	}{
		{"without/browsers", "", browser},
		{"with/browsers", rules, browser},
		{"with/denied", rules, func(int) string { return gptbot }},
		{"with/throttled", rules, func(int) string { return bingbot }},
		{"with/mix", rules, func(i int) string {
			switch i % 20 {
			case 0:
				return gptbot
			case 10:
				return bingbot
			}
			return browser(i)
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := start(b, "http://:$PORT {\n\troot $DIR/site\n\t"+bb.rules+"\n\tfile_server\n}\n")
			writeFile(b, filepath.Join(s.dir, "site", "page.html"), strings.Repeat("<p>A page of some size.</p>\n", 1000))
			url := fmt.Sprintf("http://localhost:%d/page.html", s.port)
			before := s.cpuSeconds()
			b.ResetTimer()
			var clients sync.WaitGroup
			for c := range 8 {
				clients.Go(func() {
					for i := c; i < b.N; i += 8 {
						if resp, err := send(client, http.MethodGet, url, bb.agent(i), "site.test", nil); err != nil || resp.status >= 500 {
							b.Errorf("status %d, %v", resp.status, err)
							return
						}
					}
				})
			}
			clients.Wait()
			b.StopTimer()
			b.ReportMetric((s.cpuSeconds()-before)*1e6/float64(b.N), "cpu-µs/request")
		})
	}
}
