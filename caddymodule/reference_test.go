package caddymodule

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// docs/configuration.md has a section for each subdirective, and for each line
// that only the global option takes. A section says the syntax and the default,
// and shows an example with the JSON that the example becomes.
func TestConfigurationReference(t *testing.T) {
	site, global, _ := strings.Cut(readPage(t, "configuration.md"), "\n## Global option only\n")
	sections := referenceSections(site)
	for name := range subdirectives {
		if _, ok := sections[name]; !ok {
			t.Errorf("no section describes %s", name)
		}
	}
	for name, section := range sections {
		checkReference(t, name, section, "example.com {\nrobots {\n", func(m map[string]any) bool { return m["handler"] == "robots" })
	}
	sections = referenceSections(global)
	for _, name := range globalLines {
		section, ok := sections[name]
		if !ok {
			t.Errorf("no section describes the global option's %s", name)
		}
		checkReference(t, name, section, "{\nrobots {\n", func(m map[string]any) bool { return m[name] != nil })
	}
}

// The Caddyfile with every line at the end of docs/configuration.md has every
// subdirective, and its handler becomes the JSON beside it.
func TestConfigurationReferenceInOneFile(t *testing.T) {
	_, page, _ := strings.Cut(readPage(t, "configuration.md"), "\n## Everything in one file\n")
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) != 2 || blocks[0][1] != "caddyfile" || blocks[1][1] != "json" {
		t.Fatal("the section does not have a Caddyfile and its JSON")
	}
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(blocks[0][2]), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Fatal(err)
	}
	var config, written any
	for v, text := range map[*any]string{&config: string(adapted), &written: blocks[1][2]} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
	}
	_, site, _ := strings.Cut(blocks[0][2], "\nexample.com {")
	for name := range subdirectives {
		if name != "publish" && !regexp.MustCompile(`\n\t\t`+name+`\b`).MatchString(site) { // publish needs another source
			t.Errorf("the Caddyfile has no line %s", name)
		}
	}
	var fields [2]*referenceFields
	for i, v := range []any{config, written} {
		handler := findPart(v, func(m map[string]any) bool { return m["handler"] == "robots" })
		delete(handler, "handler")
		text, err := json.Marshal(handler)
		if err != nil {
			t.Fatal(err)
		}
		fields[i] = readReference(t, "everything", string(text))
	}
	if !reflect.DeepEqual(fields[0], fields[1]) {
		t.Errorf("the Caddyfile becomes\n%+v\nbut the page has\n%+v", fields[0].Settings, fields[1].Settings)
	}
}

// referenceSections returns the texts of the third-level headings by heading.
func referenceSections(page string) map[string]string {
	sections := make(map[string]string)
	for _, part := range strings.Split(page, "\n### ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sections[name] = text
	}
	return sections
}

var (
	referenceExample = regexp.MustCompile("(?s)\n- Example:(?: `([^`]*)`|\n\n  ```\n(.*?)\n  ```)\n")
	referenceJSON    = regexp.MustCompile("\n- JSON: `([^`]*)`")
)

// checkReference adapts the example of a section in a block. The part of the
// configuration that it becomes has to equal the section's JSON.
func checkReference(t *testing.T, name, section, block string, isPart func(map[string]any) bool) {
	t.Helper()
	if !strings.HasPrefix(section, "\n`"+name) {
		t.Errorf("%s: the section does not begin with the syntax", name)
	}
	if !strings.Contains(section, "\n- Default: ") {
		t.Errorf("%s: the section does not name the default", name)
	}
	example, written := referenceExample.FindStringSubmatch(section), referenceJSON.FindStringSubmatch(section)
	if example == nil || written == nil {
		t.Errorf("%s: the section has no example or no JSON", name)
		return
	}
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(block+example[1]+example[2]+"\n}\n}\n"), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var config any
	if err := json.Unmarshal(adapted, &config); err != nil {
		t.Fatal(err)
	}
	part := findPart(config, isPart)
	delete(part, "handler")
	got, err := json.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := readReference(t, name, string(got)), readReference(t, name, "{"+written[1]+"}"); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the example becomes\n%+v\nbut the section has\n%+v", name, got, want)
	}
}

// referenceFields are the fields that an example can set.
type referenceFields struct {
	Settings
	App
}

// readReference parses the fields of a handler or of the app. Durations may be
// numbers or texts. The lines of the Caddyfile, and its name, that the adapter notes
// in a policy do not count.
func readReference(t *testing.T, name, text string) *referenceFields {
	t.Helper()
	fields := new(referenceFields)
	d := json.NewDecoder(strings.NewReader(regexp.MustCompile(`,"line":\d+|"line":\d+,|,"file":"Caddyfile"|"file":"Caddyfile",`).ReplaceAllString(text, "")))
	d.DisallowUnknownFields()
	if err := d.Decode(fields); err != nil {
		t.Errorf("%s: %s: %v", name, text, err)
	}
	return fields
}

// findPart returns the first object in v that isPart accepts, or nil.
func findPart(v any, isPart func(map[string]any) bool) map[string]any {
	var children []any
	switch v := v.(type) {
	case map[string]any:
		if isPart(v) {
			return v
		}
		children = slices.Collect(maps.Values(v))
	case []any:
		children = v
	}
	for _, child := range children {
		if part := findPart(child, isPart); part != nil {
			return part
		}
	}
	return nil
}

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
	for _, c := range collectors() {
		descriptions := make(chan *prometheus.Desc, 16)
		c.Describe(descriptions)
		close(descriptions)
		for d := range descriptions {
			name := regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1]
			exist[name] = true
			if !described[name] {
				t.Errorf("no page describes the metric %s", name)
			}
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
