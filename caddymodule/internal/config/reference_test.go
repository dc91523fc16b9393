package config_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// docs/configuration.md has a section for each subdirective, and for each line
// that only the global option takes. A section says the syntax and the default,
// and shows an example with the JSON that the example becomes.
func TestConfigurationReference(t *testing.T) {
	site, global, _ := strings.Cut(readPage(t, "configuration.md"), "\n## Global option only\n")
	sections := referenceSections(site)
	for _, name := range config.SiteLines() {
		if _, ok := sections[name]; !ok {
			t.Errorf("no section describes %s", name)
		}
	}
	for name, section := range sections {
		checkReference(t, name, section, "example.com {\nrobots {\n", func(m map[string]any) bool { return m["handler"] == "robots" })
	}
	sections = referenceSections(global)
	for _, name := range config.GlobalLines {
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
	var parsed, written any
	for v, text := range map[*any]string{&parsed: string(adapted), &written: blocks[1][2]} {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
	}
	_, site, _ := strings.Cut(blocks[0][2], "\nexample.com {")
	for _, name := range config.SiteLines() {
		if name != "publish" && !regexp.MustCompile(`\n\t\t`+name+`\b`).MatchString(site) { // publish needs another source
			t.Errorf("the Caddyfile has no line %s", name)
		}
	}
	var fields [2]*referenceFields
	for i, v := range []any{parsed, written} {
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
	config.Settings
	config.Global
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

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
