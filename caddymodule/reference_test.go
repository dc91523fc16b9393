package caddymodule

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of pages in docs")

// The tables of docs/metrics-and-logs.md are made from the code.
func TestMetricsReference(t *testing.T) {
	comments := pages.Comments{}
	for _, folder := range []string{"internal/statusapi", "."} {
		comments.Read(t, folder)
	}
	tables := map[string]func() string{
		"placeholders": func() string { return placeholderList(t, comments["Handler"]) },
		"reasons":      func() string { return reasonList(t) },
		"matchers":     func() string { return matcherList(t, comments) },
		"accidents":    accidentList,
	}
	used := make(map[string]bool)
	pages.Check(t, "../docs/metrics-and-logs.md", *update, func(words []string) string {
		used[words[0]] = true
		return tables[words[0]]()
	})
	for name := range tables {
		if !used[name] {
			t.Errorf("the page has no part %s", name)
		}
	}
}

// placeholderList has the rows of the table in the comment of the handler, which Caddy's site
// shows too. Each placeholder needs a row.
func placeholderList(t *testing.T, comment string) string {
	rows := regexp.MustCompile("(?m)^(`\\{http\\.robots\\.(\\w+)\\}`) \\| (.*)").FindAllStringSubmatch(comment, -1)
	var lines, names []string
	for _, row := range rows {
		lines, names = append(lines, "- "+row[1]+": "+row[3]), append(names, row[2])
	}
	want := append(slices.Clone(placeholders), stepPlaceholders()...)
	slices.Sort(want)
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the comment of Handler describes %s, and the placeholders are %s", names, want)
	}
	return strings.Join(lines, "\n")
}

// reasonList has what is registered of each reason, by the action.
func reasonList(t *testing.T) string {
	lists := make(map[judge.Action][]string)
	for reason, info := range judge.Reasons() {
		answered := info.Status != 0 && info.Text != "" || info.Answer != nil && info.Answer.Page
		if info.Meaning == "" || answered == (info.Action == judge.Pass) {
			t.Errorf("%s: %+v", reason, *info)
		}
		lists[info.Action] = append(lists[info.Action], fmt.Sprintf("- `%s`: %s", reason, info.Meaning))
	}
	var text strings.Builder
	for _, action := range slices.Sorted(maps.Keys(lists)) {
		slices.Sort(lists[action])
		fmt.Fprintf(&text, "With the action `%s`:\n\n%s\n\n", action, strings.Join(lists[action], "\n"))
	}
	return text.String()
}

// docs/sources.md says what each state of a robots.txt means.
func TestStatesOfSources(t *testing.T) {
	page, err := os.ReadFile("../docs/sources.md")
	for o := judge.Loaded; o <= judge.Pending; o++ {
		if !strings.Contains(string(page), fmt.Sprintf("`%s`", o)) {
			t.Errorf("the page does not have %s: %v", o, err)
		}
	}
}

// matcherList has the forms of the matcher, by the comments of its fields.
func matcherList(t *testing.T, comments pages.Comments) string {
	about, _ := pages.Prose(comments["MatchRobots"])
	_, all, _ := strings.Cut(about[0], "Without any field it matches ")
	all, _, _ = strings.Cut(all, ". ")
	rows := []string{"- `robots`: " + all}
	m := new(MatchRobots)
	for f := range reflect.TypeFor[MatchRobots]().Fields() {
		name := strings.ToLower(f.Name)
		form := name
		if !f.IsExported() {
			continue
		}
		switch m.fields()[name].(type) {
		case *[]string:
			form += " NAME…"
		case *bool:
		default:
			t.Errorf("the Caddyfile has no %s", name)
		}
		rows = append(rows, fmt.Sprintf("- `robots %s`: %s", form, pages.Cell(comments["MatchRobots."+f.Name])))
	}
	return strings.Join(rows, "\n")
}

func accidentList() string {
	var rows []string
	for kind, when := range statusapi.Accidents() {
		rows = append(rows, fmt.Sprintf("- `%s`: %s", kind, pages.Cell(when)))
	}
	slices.Sort(rows)
	return strings.Join(rows, "\n")
}

// docs/admin-api.md has the routes of the admin API and their parameters, by the comment
// of AdminAPI. These are the parameters that the routes read.
func TestAdminAPIReference(t *testing.T) {
	comments := pages.Comments{}
	comments.Read(t, ".")
	source, err := os.ReadFile("internal/statusapi/handler.go")
	if err != nil {
		t.Fatal(err)
	}
	read := make(map[string][]string) // parameters by route
	for _, m := range regexp.MustCompile(`(?ms)^\t"([a-zA-Z/]*)": +(?:get|post)\((.*?)}\),$`).FindAllStringSubmatch(string(source), -1) {
		for _, param := range regexp.MustCompile(`\.(limit)\(\)|\("(\w+)"`).FindAllStringSubmatch(m[2], -1) {
			read[m[1]] = append(read[m[1]], param[1]+param[2])
		}
		read[m[1]] = slices.Sorted(slices.Values(read[m[1]]))
	}
	routes := regexp.MustCompile(`(?m)^\t(GET|POST) +/robots/(\S*) +([^:\n]*)(?:: (.*))?$`).FindAllStringSubmatch(comments["AdminAPI"], -1)
	if len(routes) != len(read) {
		t.Errorf("the comment of AdminAPI has %d routes, of %d", len(routes), len(read))
	}
	pages.Check(t, "../docs/admin-api.md", *update, func([]string) string {
		var rows []string
		for _, m := range routes {
			var params []string
			for _, param := range regexp.MustCompile(`(\w+)(?:=\S+)?(?: \(required\))?(?:, |$)`).FindAllStringSubmatch(m[4], -1) {
				params = append(params, param[1])
			}
			if slices.Sort(params); !slices.Equal(params, read[m[2]]) {
				t.Errorf("/robots/%s: the comment has the parameters %s, and the route reads %s", m[2], params, read[m[2]])
			}
			row := fmt.Sprintf("- `%s /robots/%s`: %s", m[1], m[2], m[3])
			if m[4] != "" {
				row += "; " + m[4]
			}
			rows = append(rows, row)
		}
		return strings.Join(rows, "\n")
	})
}

// What CONTRIBUTING.md names in its layout and in its table of changes exists, and each
// package says what it is for, which `go list` shows there.
func TestLayoutOfContributing(t *testing.T) {
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layout, _ := strings.Cut(string(page), "\n```\n")
	layout, rest, _ := strings.Cut(layout, "```")
	var paths []string
	for line := range strings.Lines(layout) {
		paths = append(paths, strings.Fields(line)[0])
	}
	_, table, _ := strings.Cut(rest, "tests it in seconds:\n\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, m := range regexp.MustCompile("`(?:go test )?(?:\\./)?([\\w./]+)").FindAllStringSubmatch(table, -1) {
		paths = append(paths, strings.TrimSuffix(m[1], "..."))
	}
	if len(paths) < 25 {
		t.Errorf("only %d paths were found", len(paths))
	}
	for _, path := range paths {
		for _, part := range []string{"/NAME", "/CODE"} {
			path, _, _ = strings.Cut(path, part)
		}
		if _, err := os.Stat(filepath.Join("..", path)); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", path, err)
		}
	}
	described := make(map[string]bool)
	err = filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		dir := filepath.Dir(path)
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		described[dir] = described[dir] || regexp.MustCompile(`(?m)^(//.*|.*\*/)\npackage `).Match(text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for dir, ok := range described {
		if !ok {
			t.Errorf("%s has no comment that says what the package is for", dir)
		}
	}
}
