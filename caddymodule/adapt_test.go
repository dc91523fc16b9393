package caddymodule

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

var update = flag.Bool("update", false, "write the golden files again")

const adapted = "\n----------\n"

// Each golden file is a Caddyfile and the JSON that it is adapted to.
func TestAdapt(t *testing.T) {
	files, err := filepath.Glob("../testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".caddyfiletest"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			caddyfile, want, _ := strings.Cut(string(text), adapted)
			got, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": name})
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, got, "", "\t"); err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(name, []byte(caddyfile+adapted+indented.String()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if strings.TrimSpace(want) != indented.String() {
				t.Errorf("adapted to\n%s\nwant\n%s", indented.String(), want)
			}
		})
	}
}

// Every subdirective has a golden file.
func TestAdaptCoversAllSubdirectives(t *testing.T) {
	files, _ := filepath.Glob("../testdata/adapt/*.caddyfiletest")
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		caddyfile, _, _ := strings.Cut(string(text), adapted)
		all.WriteString(caddyfile)
	}
	for name := range subdirectives {
		if !strings.Contains(all.String(), "\t\t"+name) {
			t.Errorf("no golden file has %s", name)
		}
	}
}
