package caddymodule

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-robots/caddy-robots/internal/test/freeport"
)

// BenchmarkReload measures the time of a reload with 200 sites, and the memory in
// use afterwards, with robots in each site and without.
func BenchmarkReload(b *testing.B) {
	b.Setenv("XDG_DATA_HOME", b.TempDir())
	b.Setenv("XDG_CONFIG_HOME", b.TempDir())
	for _, with := range []bool{false, true} {
		b.Run(fmt.Sprintf("robots=%v", with), func(b *testing.B) {
			config := manySites(b, 200, with)
			if err := caddy.Load(config, true); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = caddy.Stop() }()
			for b.Loop() {
				if err := caddy.Load(config, true); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/1e6, "heap-MB")
		})
	}
}

// manySites returns a configuration of n sites, each with its own robots.txt.
func manySites(b *testing.B, n int, with bool) []byte {
	b.Helper()
	port, err := freeport.Take()
	if err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	var text strings.Builder
	text.WriteString("{\n\tadmin off\n\tpersist_config off\n\tlog {\n\t\tlevel PANIC\n\t}\n}\n")
	for i := range n {
		file := filepath.Join(folder, fmt.Sprintf("robots%d.txt", i))
		if err := os.WriteFile(file, fmt.Appendf(nil, "%s\nUser-agent: OwnBot%d\nDisallow: /%d/\n", inline, i, i), 0o600); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&text, "http://site%d.test:%d {\n\tbind 127.0.0.1\n", i, port)
		if with {
			fmt.Fprintf(&text, "\trobots {\n\t\tsource file %s\n\t}\n", file)
		}
		text.WriteString("\trespond hello\n}\n")
	}
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text.String()), nil)
	if err != nil {
		b.Fatal(err)
	}
	return config
}
