package config_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

// docs/configuration.md and the pages of the steps describe each line of the directive and of
// the global option, by the comments of the settings. Their examples are adapted to the JSON
// beside them.
func TestConfigurationReference(t *testing.T) {
	r := &reference{T: t, comments: pages.Comments{}, described: map[string]bool{}}
	folders, _ := filepath.Glob("../../steps/*")
	for _, folder := range append([]string{"../../../internal/managed", "../../../enforce/limits"}, append(folders, "../..", ".")...) {
		r.comments.Read(t, folder)
	}
	r.syntax = syntaxOf(r.comments["App"], "\t\t")
	maps.Copy(r.syntax, syntaxOf(r.comments["Handler.UnmarshalCaddyfile"], "\t"))
	for _, name := range append(step.Names(false), step.Names(true)...) {
		maps.Copy(r.syntax, syntaxOf(r.comments[reflect.TypeOf(step.New(name)).Elem().Name()+".UnmarshalCaddyfile"], ""))
	}
	all := []string{"../../../docs/configuration.md", "../../../docs/answers.md"}
	for _, folder := range folders {
		if filepath.Base(folder) != "dashboard" { // which is a directive
			all = append(all, folder+"/README.md")
		}
	}
	for _, page := range all {
		pages.Check(t, page, *update, func(words []string) string {
			if words[0] != "lines" {
				return ""
			}
			var text strings.Builder
			for _, name := range words[1:] {
				r.describe(&text, name)
			}
			return strings.NewReplacer("Default: true.", "Default: `on`.", "Default: false.", "Default: `off`.").Replace(text.String()) // as in a Caddyfile
		})
	}
	for _, name := range slices.Concat(config.SiteLines(), config.GlobalLines, step.Names(true)) {
		if !r.described[name] {
			t.Errorf("no section describes %s", name)
		}
	}
}

// reference makes the sections of the page.
type reference struct {
	*testing.T
	comments  pages.Comments
	syntax    map[string]string // by the name of the line
	described map[string]bool
}

// syntaxOf returns the lines of a block in a comment, with the blocks that they open.
func syntaxOf(comment, indent string) map[string]string {
	_, code := pages.Prose(comment)
	all := make(map[string]string)
	name := ""
	for line := range strings.Lines(code + "\n") {
		line, ok := strings.CutPrefix(line, indent)
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "}") {
			name, _, _ = strings.Cut(strings.TrimSpace(line), " ")
			line = regexp.MustCompile(" {2,}").ReplaceAllString(line, " ")
		}
		all[name] += line
	}
	return all
}

// more has the settings of a line, besides the one with its name.
var more = map[string][]string{"mode": {"enforced"}}

// describe writes the section of a line.
func (r *reference) describe(w *strings.Builder, name string) {
	r.described[name] = true
	field, comment := r.field(reflect.TypeFor[config.Settings](), name)
	isPart := func(m map[string]any) bool { return m["handler"] == "robots" }
	block := "example.com {\nrobots {\n"
	if comment == "" {
		field, comment = r.field(reflect.TypeFor[config.Global](), name)
		isPart, block = func(m map[string]any) bool { return m[name] != nil }, "{\nrobots {\n"
	}
	module := step.New(name)
	if module != nil {
		field.Name, field.Type = name, reflect.TypeOf(module)
		comment = strings.TrimPrefix(r.comments[field.Type.Elem().Name()], field.Type.Elem().Name()+" ")
		comment = strings.ToUpper(comment[:1]) + comment[1:]
		isPart, block = func(m map[string]any) bool { return m["handler"] == "robots" }, "example.com {\nrobots {\n"
		if module.Info().Process {
			isPart, block = func(m map[string]any) bool { return m["steps"] != nil }, "{\nrobots {\n"
		}
	}
	paragraphs, example := pages.Prose(comment)
	if r.syntax[name] == "" || len(paragraphs) == 0 || example == "" {
		r.Fatalf("%s: the comment of %s has no text or example, or the syntax is missing", name, field.Name)
	}
	if !strings.Contains(comment, "Default:") && field.Type.Kind() != reflect.Pointer {
		r.Errorf("%s: the comment does not name the default", name)
	}
	var rows strings.Builder
	row := func(name, comment string) {
		if comment != "" && !strings.HasPrefix(comment, "The name of the configuration file") && !strings.HasPrefix(comment, "The line of the configuration") {
			fmt.Fprintf(&rows, "- `%s`: %s\n", name, pages.Cell(comment))
		}
	}
	for _, other := range more[name] {
		_, comment := r.field(reflect.TypeFor[config.Settings](), other)
		row(other, comment)
	}
	typ := field.Type
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if module != nil && module.Info().Repeatable && typ.NumField() > 0 && typ.Field(0).Type.Kind() == reflect.Slice &&
		typ.Field(0).Type.Elem().Kind() == reflect.Struct {
		typ = typ.Field(0).Type.Elem() // a value for each line
	}
	alone := module != nil && !strings.Contains(r.syntax[name], "{")                   // the text has its value
	if typ.Kind() == reflect.Struct && !strings.HasSuffix(typ.PkgPath(), "/headers") { // of which docs/headers.md has the patterns
		if module == nil {
			about, _ := pages.Prose(r.comments[typ.Name()])
			paragraphs = append(paragraphs, about[1:]...)
		}
		for _, f := range reflect.VisibleFields(typ) {
			if f.IsExported() && !f.Anonymous && !alone && name != "source" && name != "exempt" { // whose text has the fields
				row(jsonName(f), r.comments[typ.Name()+"."+f.Name])
			}
		}
	}
	r.checkBlock(name, typ, block+strings.SplitAfter(example, "\n")[0])
	if module == nil { // the page of a step has a heading
		fmt.Fprintf(w, "### %s\n\n", name)
	}
	syntax := "```\n" + r.syntax[name] + "```"
	if line := strings.TrimSuffix(r.syntax[name], "\n"); !strings.Contains(line, "\n") {
		syntax = "`" + line + "`"
	}
	fmt.Fprintf(w, "%s\n\n%s\n\n", syntax, strings.Join(paragraphs, "\n\n"))
	if rows.Len() > 0 {
		fmt.Fprintf(w, "%s\n", rows.String())
	}
	adapted := r.adapt(name, block+example+"\n}\n}\n", isPart)
	if !regexp.MustCompile(`^"` + name + `":("[^"]*"|\w+)$`).MatchString(adapted) { // which the page explains for all
		fmt.Fprintf(w, "JSON: `%s`\n\n", adapted)
	}
}

// checkBlock checks that the syntax of a block has each field of its type, and that the
// parser knows each line of the syntax.
func (r *reference) checkBlock(name string, typ reflect.Type, begin string) {
	syntax := r.syntax[name]
	if !strings.Contains(syntax, "{\n") {
		return
	}
	if typ.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(typ) {
			field := jsonName(f)
			if !slices.Contains([]string{"name", "url", "paths", "presets", "disallowed", "file", "line"}, field) && !strings.Contains(syntax, "\n\t"+strings.TrimSuffix(field, "s")) {
				r.Errorf("%s: the syntax has no %s", name, field)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)`).FindAllStringSubmatch(syntax, -1) {
		_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(begin+m[1]+"\n}\n}\n}\n"), map[string]any{"filename": "Caddyfile"})
		if err != nil && strings.Contains(err.Error(), "unknown subdirective") {
			r.Errorf("%s: %v", name, err)
		}
	}
}

// field returns the field of typ for a line, with its comment, "" if there is none.
func (r *reference) field(typ reflect.Type, line string) (f reflect.StructField, comment string) {
	for f := range typ.Fields() {
		if name := jsonName(f); name == line || name == line+"s" {
			return f, r.comments[typ.Name()+"."+f.Name]
		}
	}
	return f, ""
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// adapt returns the fields in JSON that a Caddyfile becomes, with durations as texts.
func (r *reference) adapt(name, caddyfile string, isPart func(map[string]any) bool) string {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		r.Errorf("%s: %v", name, err)
		return ""
	}
	part := findPart(decoded(r.T, adapted), isPart)
	delete(part, "handler")
	delete(part, "places") // the adapter notes them
	if defaults, ok := part["defaults"].(map[string]any); ok {
		delete(defaults, "places")
		if len(defaults) == 0 {
			delete(part, "defaults")
		}
	}
	text, err := json.Marshal(part)
	if err != nil {
		r.Fatal(err)
	}
	got := readReference(r.T, name, string(text))
	if text, err = json.Marshal(got); err != nil {
		r.Fatal(err)
	}
	written := regexp.MustCompile(`\b\d+000000\b`).ReplaceAllStringFunc(string(text), func(ns string) string {
		n, _ := strconv.Atoi(ns)
		return strconv.Quote(regexp.MustCompile(`([mh])0[sm](0s)?$`).ReplaceAllString(time.Duration(n).String(), "$1"))
	})
	if again := readReference(r.T, name, written); !reflect.DeepEqual(got, again) {
		r.Errorf("%s: %s is not %s", name, written, text)
	}
	return strings.TrimSuffix(strings.TrimPrefix(written, "{"), "}")
}

// referenceFields are the fields that an example can set.
type referenceFields struct {
	config.Settings
	global // whose steps are read as those of Settings
}

type global struct{ config.Global }

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
	for name := range fields.Steps { // so that durations are the same in both forms
		s := step.New(name)
		if err := json.Unmarshal(fields.Steps[name], s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		fields.Steps[name] = caddyconfig.JSON(s, nil)
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
