package scenarios_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

var record = flag.String("record", "", "write the requests of the scenarios and their answers to this file")

// week is the time from one scenario to the next. Time never goes back in a process.
const week = 7 * 24 * time.Hour

// root is the repository.
var root, _ = filepath.Abs("../../..")

func TestMain(m *testing.M) {
	if os.Getenv(asCaddy) != "" {
		caddycmd.Main()
		return
	}
	dir, err := os.MkdirTemp("", "caddy-robots-")
	var own string
	if err == nil {
		own, err = os.Executable()
	}
	if err == nil {
		err = os.Symlink(own, filepath.Join(dir, "caddy"))
	}
	if err != nil {
		panic(err)
	}
	// Commands start a third faster if they collect nothing at first. Nothing of the Internet is
	// read, such as lists of addresses.
	for name, value := range map[string]string{
		asCaddy: "1", "GOGC": "off", "GOMEMLIMIT": "200MiB", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost,.test,.localhost",
	} {
		_ = os.Setenv(name, value)
	}
	_ = os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// TestScenarios runs testdata/scenarios, one after the other: they share a clock. With the
// tag core, the plugin has no steps and commands, and scenarios that need some do not run.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "testdata/scenarios/*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var out io.Writer
	if *record != "" {
		file, err := os.Create(*record)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		out = file
	}
	for i, path := range files {
		s, err := scenario.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if !everything && len(s.Needs) > 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			passed.Store(int64(i) * int64(week))
			logged.take(true)
			if out != nil {
				fmt.Fprintf(out, "## %s\n\n", s.Name)
			}
			s.Run(inProcess{dir}, dir, scenario.Options{Record: out, Root: root, URL: url, Held: held}, func(p string) { t.Error(p) })
			if err := caddy.Stop(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				log := logged.take(false)
				t.Logf("log:\n%s", log[max(0, len(log)-3000):])
			}
		})
	}
}
