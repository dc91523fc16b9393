package enforce

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Packages import only what their layer allows: robots and headers import the
// standard library and internal packages; enforce and its packages import these
// and a few small packages, but not Caddy, its logger or Prometheus, and nothing
// of internal that could import enforce. The plugin does not import what only the
// commands of package commands need, such as the audit of logs, or only a step, such as
// the client of Redis.
func TestImports(t *testing.T) {
	const module = "github.com/caddy-robots/caddy-robots/"
	internal := func(dep string) bool { return strings.HasPrefix(dep, module+"internal/") }
	language := func(dep string) bool { return dep == module+"robots" || internal(dep) }
	enforced := func(dep string) bool {
		own, _ := strings.CutPrefix(dep, module)
		switch {
		case own == "robots" || own == "robots/diff" || own == "headers" || own == "enforce" || strings.HasPrefix(own, "enforce/"):
			return true
		case own == "internal/background" || own == "internal/canonical" || own == "internal/editdistance" || own == "internal/table" || own == "internal/document" || own == "internal/localfile" || own == "internal/netaddr" || own == "internal/pattern" || own == "internal/release" || own == "internal/words":
			return true
		}
		return own == dep && !strings.Contains(dep, "caddyserver") && !strings.Contains(dep, "go.uber.org/zap") && !strings.Contains(dep, "prometheus")
	}
	for name, allowed := range map[string]func(string) bool{
		"robots":                internal,
		"robots/lint":           language,
		"robots/diff":           language,
		"headers":               internal,
		"internal/editdistance": func(string) bool { return false },
		"enforce":               enforced,
		"enforce/judge": func(dep string) bool {
			return enforced(dep) && dep != module+"enforce" && dep != module+"enforce/origins"
		},
		"enforce/origins":  func(dep string) bool { return enforced(dep) && dep != module+"enforce" },
		"enforce/crawler":  enforced,
		"enforce/throttle": enforced,
		"enforce/verify":   enforced,
		"caddymodule": func(dep string) bool {
			own, _ := strings.CutPrefix(dep, module)
			return !strings.HasPrefix(own, "internal/audit") && !strings.HasPrefix(own, "internal/log") && own != "caddymodule/commands" &&
				!strings.HasPrefix(own, "caddymodule/steps") && own != "enforce/verify" && own != "enforce/limits" && !strings.Contains(dep, "gaissmai/bart") &&
				!strings.Contains(dep, "valkey")
		},
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, dep := range strings.Fields(string(out)) {
			if dep != module+name && !allowed(dep) {
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
}

// No package but standard imports a step, so that a step goes with its folder and the line
// that imports it.
func TestStepsAreImportedOnce(t *testing.T) {
	const module, steps = "github.com/caddy-robots/caddy-robots/", "caddymodule/steps/"
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	imported := 0
	for line := range strings.Lines(string(out)) {
		name, imports, _ := strings.Cut(line, " ")
		n := strings.Count(imports, module+steps)
		if name == module+"caddymodule/standard" {
			imported = n
		} else if n > 0 {
			t.Errorf("%s imports a step", name)
		}
	}
	if folders, _ := filepath.Glob("../" + steps + "*"); imported != len(folders) {
		t.Errorf("standard imports %d steps of %d", imported, len(folders))
	}
}

// Packages of internal serve the plugin and know nothing of it.
func TestInternalPackagesDoNotImportThePlugin(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Deps \" \"}}", "github.com/caddy-robots/caddy-robots/internal/...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if name, deps, _ := strings.Cut(line, " "); strings.Contains(deps, "caddy-robots/caddymodule") {
			t.Errorf("%s depends on the plugin", name)
		}
	}
}
