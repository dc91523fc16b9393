package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// The whole report in JSON.
func TestGolden(t *testing.T) {
	for _, name := range []string{"combined", "caddy"} {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, Options{Files: []logfile.File{onDisk(name + ".log")}, Sites: exampleSite(t)})
			got, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the report differs from %s; go test -update writes the file:\n%s", file, got)
			}
		})
	}
}
