package enforce

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/caddy-robots/caddy-robots/"

// packages returns, of each package of the module, what it imports and all that it depends on.
func packages(t *testing.T) (imports, deps map[string][]string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}|{{join .Imports " "}}|{{join .Deps " "}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	imports, deps = make(map[string][]string), make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		name := strings.TrimPrefix(fields[0], module)
		imports[name], deps[name] = strings.Fields(fields[1]), strings.Fields(fields[2])
	}
	return imports, deps
}

// Packages import only what their layer allows: robots and headers import the
// standard library and internal packages; enforce and its packages import these
// and a few small packages, but not Caddy, its logger or Prometheus, and nothing
// of internal that could import enforce. The plugin does not import what only the
// commands of package commands need, such as the audit of logs, or only a step, such as
// the client of Redis. Packages of internal serve the plugin and know nothing of it. No
// package but standard imports a step, so that a step goes with its folder and the line that
// imports it.
func TestImports(t *testing.T) {
	internal := func(dep string) bool { return strings.HasPrefix(dep, module+"internal/") }
	language := func(dep string) bool { return dep == module+"robots" || internal(dep) }
	shared := strings.Fields("background canonical editdistance table document localfile netaddr pattern release words")
	enforced := func(dep string) bool {
		own, found := strings.CutPrefix(dep, module)
		if !found {
			return !strings.Contains(dep, "caddyserver") && !strings.Contains(dep, "go.uber.org/zap") && !strings.Contains(dep, "prometheus")
		}
		name, inside := strings.CutPrefix(own, "internal/")
		return inside && slices.Contains(shared, name) || own == "robots" || own == "robots/diff" || own == "headers" || own == "enforce" ||
			strings.HasPrefix(own, "enforce/")
	}
	imports, deps := packages(t)
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
		if len(imports[name]) == 0 && name != "internal/editdistance" {
			t.Errorf("%s is not there", name)
		}
		for _, dep := range deps[name] {
			if first, _, _ := strings.Cut(dep, "/"); strings.Contains(first, ".") && !allowed(dep) { // not of the standard library
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
	steps := 0
	for name := range imports {
		n := 0
		for _, imported := range imports[name] {
			n += strings.Count(imported, module+"caddymodule/steps/")
		}
		if name == "caddymodule/standard" {
			steps = n
		} else if n > 0 {
			t.Errorf("%s imports a step", name)
		}
		if strings.HasPrefix(name, "internal/") && slices.ContainsFunc(deps[name], func(dep string) bool { return strings.HasPrefix(dep, module+"caddymodule") }) {
			t.Errorf("%s depends on the plugin", name)
		}
	}
	if folders, _ := filepath.Glob("../caddymodule/steps/*"); steps != len(folders) || steps == 0 {
		t.Errorf("standard imports %d steps of %d", steps, len(folders))
	}
}
