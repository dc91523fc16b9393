package caddymodule

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// docs/metrics-and-logs.md names each placeholder, each form of the matcher and
// each metric, and the metrics in the pages exist.
func TestMetricsReference(t *testing.T) {
	page := readPage(t, "metrics-and-logs.md")
	for _, name := range append(placeholders, trapPlaceholder) {
		if !strings.Contains(page, "`{"+placeholderPrefix+name+"}`") {
			t.Errorf("no row describes the placeholder %s", name)
		}
	}
	for _, name := range strings.FieldsFunc(matcherFields, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name != "or" && !strings.Contains(page, "`robots "+name) {
			t.Errorf("no row describes the matcher robots %s", name)
		}
	}
	pages := page + readPage(t, "suspects.md") + readPage(t, "verification.md")
	described := make(map[string]bool)
	for _, row := range regexp.MustCompile(`(?m)^\|.*`).FindAllString(pages, -1) {
		for _, name := range regexp.MustCompile(`caddy_robots_\w+`).FindAllString(row, -1) {
			described[name] = true
		}
	}
	exist := make(map[string]bool)
	registry, descriptions := prometheus.NewRegistry(), make(chan *prometheus.Desc, 100)
	if err := metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	registry.Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		name := regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1]
		exist[name] = true
		if !described[name] {
			t.Errorf("no page describes the metric %s", name)
		}
	}
	for name := range described {
		if !exist[name] {
			t.Errorf("a page describes the metric %s, which does not exist", name)
		}
	}
}

// docs/metrics-and-logs.md has each reason, each outcome of a read and each message
// about a refusal.
func TestReasonsReference(t *testing.T) {
	page := readPage(t, "metrics-and-logs.md")
	_, reasons, _ := strings.Cut(page, "\n## Reasons\n")
	reasons, _, _ = strings.Cut(reasons, "\n## ")
	for r := range enforce.Reason(enforce.Reasons) {
		if !strings.Contains(reasons, "\n| `"+r.String()+"` | `") {
			t.Errorf("no row describes the reason %s", r)
		}
	}
	if n, want := strings.Count(reasons, "\n| `"), enforce.Reasons; n != want {
		t.Errorf("the table has %d reasons, want %d", n, want)
	}
	_, reads, _ := strings.Cut(page, "\n### Reads of robots.txt\n")
	for o := enforce.Loaded; o <= enforce.Pending; o++ {
		if !strings.Contains(reads, "\n| `"+o.String()+"` | ") {
			t.Errorf("no row describes the outcome %s", o)
		}
	}
}

// docs/metrics-and-logs.md has each log message above the level debug, with its
// level.
func TestLogReference(t *testing.T) {
	type line struct{ level, message string }
	var written []line
	files, _ := filepath.Glob("*.go")
	rooms, _ := filepath.Glob("internal/*/*.go")
	for _, name := range append(files, rooms...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:\b(?:log|Load\(\)|Logger\(\))\.(Info|Warn|Error)\(|zapcore\.(Info|Warn|Error)Level, |\b(message) :?= )"([^"]+)"`).FindAllSubmatch(source, -1) {
			level := strings.ToLower(string(m[1]) + string(m[2]))
			if string(m[3]) != "" {
				level = "info" // outcomes.write logs the message in a variable
			}
			written = append(written, line{level, string(m[4])})
		}
	}
	if len(written) < 40 {
		t.Fatalf("only %d messages were found", len(written))
	}
	_, table, _ := strings.Cut(readPage(t, "metrics-and-logs.md"), "\n## Log\n")
	table, _, _ = strings.Cut(table, "\n## ")
	used := make(map[*regexp.Regexp]bool)
	rows := make(map[string][]*regexp.Regexp) // by level
	for _, row := range regexp.MustCompile(`(?m)^\| (info|warn|error) \| ([^|]*) \|`).FindAllStringSubmatch(table, -1) {
		for _, message := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(message[1]), "…", ".*") + "$")
			rows[row[1]], used[pattern] = append(rows[row[1]], pattern), false
		}
	}
	for _, l := range written {
		found := false
		for _, pattern := range rows[l.level] {
			if pattern.MatchString(l.message) {
				found, used[pattern] = true, true
			}
		}
		if !found {
			t.Errorf("no row describes the message %q of level %s", l.message, l.level)
		}
	}
	for pattern, ok := range used {
		if !ok {
			t.Errorf("no log line has the message %s", pattern)
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
