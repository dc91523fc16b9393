package audit

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/test/accesslog"
)

// addresses is the number of client addresses in the logs.
const addresses = 1_000_000

const robotsTxt = "User-agent: *\nDisallow: /private/\nCrawl-delay: 5\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: bingbot\nCrawl-delay: 2\nDisallow: /page/1*/\n"

// lines returns the number of lines of the logs: AUDIT_LINES, or 1,000,000.
func lines(b *testing.B) int {
	if s := os.Getenv("AUDIT_LINES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	return 1_000_000
}

// build builds Caddy with the plugin.
func build(b *testing.B) string {
	binary := filepath.Join(b.TempDir(), "caddy")
	cmd := exec.Command("go", "build", "-o", binary, "./caddymodule/cmd/caddy")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return binary
}

// write writes a log to a file and returns its name.
func write(b *testing.B, log *accesslog.Log) string {
	name := filepath.Join(b.TempDir(), "access.log")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, log); err != nil {
		b.Fatal(err)
	}
	return name
}

// BenchmarkAudit reads one log of each format with both programs, ours with suggestions
// too. The Go program runs on one processor.
func BenchmarkAudit(b *testing.B) {
	n := lines(b)
	caddy := build(b)
	robots := filepath.Join(b.TempDir(), "robots.txt")
	if err := os.WriteFile(robots, []byte(robotsTxt), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, format := range []string{"combined", "caddy"} {
		log := write(b, accesslog.New(format, n, addresses))
		week := write(b, accesslog.New(format, n, addresses).Over(7*24*time.Hour)) // suggestions need three days
		out := filepath.Join(b.TempDir(), "report.json")
		command := []string{caddy, "robots", "audit", "--json", "--robots", robots}
		for _, bb := range []struct {
			name string
			args []string
		}{
			{"caddy", append(slices.Clone(command), log)},
			{"suggest", append(slices.Clone(command), "--suggest", week)},
			{"goaccess", []string{"goaccess", log, "--log-format=" + strings.ToUpper(format), "--no-global-config", "--no-progress", "-o", out}},
		} {
			b.Run(format+"/"+bb.name, func(b *testing.B) {
				if _, err := exec.LookPath(bb.args[0]); err != nil {
					b.Logf("%s is not installed", bb.args[0])
					return
				}
				for b.Loop() {
					measure(b, n, bb.args)
				}
			})
		}
	}
}

// measure runs a program once and reports its CPU time and memory.
func measure(b *testing.B, n int, args []string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.Output(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.ReportMetric(float64(n)/used.Seconds(), "lines/cpu-s")
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		b.ReportMetric(float64(usage.Maxrss)/1024, "MiB")
	}
}
