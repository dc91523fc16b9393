package config_test

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

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

var update = flag.Bool("update", false, "write the golden files again")

const adapted = "\n----------\n"

// Each golden file is a Caddyfile and the JSON that it is adapted to.
func TestAdapt(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/adapt/*.caddyfiletest")
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
	files, _ := filepath.Glob("../../../testdata/adapt/*.caddyfiletest")
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		caddyfile, _, _ := strings.Cut(string(text), adapted)
		all.WriteString(caddyfile)
	}
	for _, name := range config.SiteLines() {
		if !strings.Contains(all.String(), "\t\t"+name) {
			t.Errorf("no golden file has %s", name)
		}
	}
}

// A policy has the name of the file with its lines, also if a Caddyfile imports that
// file. It has none if its statements are in several files.
func TestFileOfAPolicy(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"shop.caddy": "robots {\n\tpolicy {\n\t\tdeny seo\n\t}\n}\n", "deny.caddy": "deny seo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		":80 {\n\trobots {\n\t\tpolicy no-ai\n\t}\n}":                                            "main.caddyfile",
		"(ai) {\n\trobots {\n\t\tpolicy {\n\t\t\tdeny seo\n\t\t}\n\t}\n}\n:80 {\n\timport ai\n}": "main.caddyfile",
		":80 {\n\timport shop.caddy\n}":                                                          "shop.caddy",
		":80 {\n\trobots {\n\t\tpolicy no-training {\n\t\t\timport deny.caddy\n\t\t}\n\t}\n}":    "",
	} {
		config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text+"\n"), map[string]any{"filename": filepath.Join(dir, "main.caddyfile")})
		if err != nil {
			t.Fatal(err)
		}
		found := findPart(decoded(t, config), func(object map[string]any) bool { return object["handler"] == "robots" })
		policy, _ := found["steps"].(map[string]any)["policy"].(map[string]any)
		if got, _ := policy["file"].(string); got != want {
			t.Errorf("%s\nfile %q, want %q", text, got, want)
		}
	}
}

// decoded returns a configuration as a tree.
func decoded(t *testing.T, config []byte) (tree any) {
	t.Helper()
	if err := json.Unmarshal(config, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}
