package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

var (
	selector   = regexp.MustCompile(`(caddy_robots_\w+)(?:\{([^}]*)\})?`)
	labelNames = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	grouping   = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

// expressions returns the PromQL of the dashboard and of the alert rules.
func expressions(t *testing.T) (found []string) {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(root(t), "docs", "grafana", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var dashboard any
	if err := json.Unmarshal(read("dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case map[string]any:
			if expr, ok := node["expr"].(string); ok {
				found = append(found, expr)
			}
			for _, child := range node {
				walk(child)
			}
		case []any:
			for _, child := range node {
				walk(child)
			}
		}
	}
	walk(dashboard)
	if len(found) < 15 {
		t.Fatalf("the dashboard has only %d expressions", len(found))
	}
	rules := strings.Split(string(read("alerts.yml")), "expr:")[1:]
	if len(rules) < 5 {
		t.Fatalf("there are only %d alert rules", len(rules))
	}
	for _, rule := range rules {
		expr, _, _ := strings.Cut(rule, "for:")
		found = append(found, strings.TrimLeft(expr, " |\n"))
	}
	return found
}

// exposed returns the labels of each metric of the plugin.
func (s *server) exposed() map[string]map[string]bool {
	s.t.Helper()
	resp, err := http.Get(fmt.Sprintf("http://localhost:%d/metrics", s.admin))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	metrics := make(map[string]map[string]bool)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		m := selector.FindStringSubmatch(lines.Text())
		if m == nil || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if metrics[m[1]] == nil {
			metrics[m[1]] = map[string]bool{"job": true, "instance": true} // Prometheus adds these
		}
		for _, label := range labelNames.FindAllStringSubmatch(m[2], -1) {
			metrics[m[1]][label[1]] = true
		}
	}
	return metrics
}

// Every expression in the Grafana dashboard and the alert rules uses metrics and
// labels that a server exposes.
func TestGrafanaUsesExistingMetrics(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	redis := miniredis.RunT(t)
	s := start(t, fmt.Sprintf(`{
	metrics
	%s
}
http://:$PORT {
	robots {
		source inline "User-agent: SlowBot
Crawl-delay: 1000
"
		fleet redis://%s
		verify {
			resolver %s
		}
		crawler SlowBot {
			purpose search
			verify lists %s/list.json
			verify dns crawl.test
		}
	}
	header >X-Verified {http.robots.verified}
	respond "hello"
}
`, trustedProxies, redis.Addr(), o.resolver, o.web.URL))
	s.eventually("DNS verifies a crawler", func() bool { return s.via(namedAddr, "SlowBot/1.0", "/").header.Get("X-Verified") == "verified" })
	s.eventually("the server shares budgets", func() bool {
		s.get(chrome, "/")
		return s.metric("caddy_robots_fleet_up") == 1
	})
	s.eventually("a verified crawler is throttled", func() bool { return s.via(listedAddr, "SlowBot/1.0", "/x").status == 429 })

	var metrics map[string]map[string]bool
	uses := make(map[string]map[string]bool)
	for _, expr := range expressions(t) {
		named := make(map[string]bool)
		for _, m := range selector.FindAllStringSubmatch(expr, -1) {
			if uses[m[1]] == nil {
				uses[m[1]] = make(map[string]bool)
			}
			for _, label := range labelNames.FindAllStringSubmatch(m[2], -1) {
				uses[m[1]][label[1]] = true
			}
			named[m[1]] = true
		}
		if len(named) == 0 {
			t.Errorf("%s names no metric", expr)
		}
		for _, m := range grouping.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(m[1], ",") {
				for name := range named {
					uses[name][strings.TrimSpace(label)] = true
				}
			}
		}
	}
	s.eventually("all metrics are there", func() bool {
		metrics = s.exposed()
		return !slices.ContainsFunc(slices.Collect(maps.Keys(uses)), func(name string) bool { return metrics[name] == nil })
	})
	for name, labels := range uses {
		for label := range labels {
			if !metrics[name][label] {
				t.Errorf("%s has no label %s; it has %v", name, label, slices.Sorted(maps.Keys(metrics[name])))
			}
		}
	}
}

// The expressions are valid PromQL. (.ci/run runs the tests of the alert rules.)
func TestGrafanaIsPromQL(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Log("promtool is not installed: the expressions are not parsed")
		return
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	variables := strings.NewReplacer("$instance", ".*", "$__rate_interval", "5m")
	for i, expr := range expressions(t) {
		fmt.Fprintf(&rules, "  - record: r%d\n    expr: %q\n", i, variables.Replace(expr))
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	writeFile(t, file, rules.String())
	cmd := exec.Command("promtool", "check", "rules", file, filepath.Join(root(t), "docs", "grafana", "alerts.yml"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
