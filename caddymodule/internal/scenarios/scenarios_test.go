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
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/caddy-robots/caddy-robots/caddymodule"
	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

var record = flag.String("record", "", "write the requests of the scenarios and their answers to this file")

// week is the time from one scenario to the next. Time never goes back in a process.
const week = 7 * 24 * time.Hour

// TestScenarios runs testdata/scenarios, one after the other: they share a clock.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/scenarios/*.txtar")
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
		t.Run(s.Name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			passed.Store(int64(i) * int64(week))
			logged.take(true)
			if out != nil {
				fmt.Fprintf(out, "## %s\n\n", s.Name)
			}
			s.Run(inProcess{dir}, dir, scenario.Options{Record: out}, func(p string) { t.Error(p) })
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
