package scenarios_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/internal/test/pages"
	"github.com/caddy-robots/caddy-robots/internal/test/scenario"
)

// TestDocumentation runs what the README, the pages in docs and testdata/examples show. What
// their Caddyfiles do with requests, and what the commands do that a page shows without their
// output, is in testdata/scenarios/docs*.txtar and examples.txtar.
func TestDocumentation(t *testing.T) {
	t.Chdir(root)
	cache, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	folders := strings.Fields(string(cache)) // by default below HOME
	t.Setenv("GOCACHE", folders[0])
	t.Setenv("GOMODCACHE", folders[1])
	for name, value := range map[string]string{"HOME": t.TempDir(), "SMTP_PASSWORD": "x", "NTFY_TOKEN": "x"} {
		t.Setenv(name, value)
	}
	blocks := make(map[string][]pages.Block)
	for _, page := range documents(t) {
		of, err := pages.Blocks(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range of {
			blocks[b.Language] = append(blocks[b.Language], b)
		}
	}
	examples, err := filepath.Glob("testdata/examples/*.Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(examples, "Caddyfile.example") {
		blocks["caddyfile"] = append(blocks["caddyfile"], pages.Block{Page: file, Text: read(t, file)})
	}
	for language, kind := range map[string]struct {
		least int
		run   func(t *testing.T, b pages.Block)
	}{
		"caddyfile": {45, checkCaddyfile}, "json": {1, checkJSON}, "sh": {15, checkCommands}, "console": {3, checkConsole},
	} {
		t.Run(language, func(t *testing.T) {
			if n := len(blocks[language]); n < kind.least {
				t.Errorf("only %d blocks were found", n)
			}
			if language == "console" { // README's commands are for this server
				load(t, "Caddyfile.example", strings.ReplaceAll(read(t, "Caddyfile.example"), "localhost:8080", "site.test:80"))
			}
			for _, b := range blocks[language] {
				kind.run(t, b)
			}
			if err := caddy.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("links", checkLinks)
	t.Run("facts", checkFacts)
	t.Run("examples", func(t *testing.T) { checkExamples(t, examples) })
	t.Run("admin API", checkAnswers)
}

// documents returns the README, the pages in docs, and those of steps.
func documents(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "caddymodule/steps/*/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// load loads a Caddyfile into this process, in a new folder for what it keeps.
func load(t *testing.T, name, text string) inProcess {
	t.Helper()
	s := inProcess{t.TempDir()}
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(name); err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks a configuration like the command validate.
func validate(config []byte) error {
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		return err
	}
	// What Caddy logs would hide a failure.
	parsed.Logging = &caddy.Logging{Logs: map[string]*caddy.CustomLog{
		caddy.DefaultLoggerName: {BaseLog: caddy.BaseLog{WriterRaw: json.RawMessage(`{"output":"discard"}`)}},
	}}
	return caddy.Validate(&parsed)
}

// A Caddyfile is valid, and is as `caddy fmt` writes it.
func checkCaddyfile(t *testing.T, b pages.Block) {
	t.Helper()
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(b.Text), map[string]any{"filename": "Caddyfile"})
	if err == nil {
		err = validate(config)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", b.Page, err, b.Text)
	}
	if formatted := string(caddyfile.Format([]byte(b.Text))); formatted != b.Text {
		t.Errorf("%s: not formatted:\n%s\nwant\n%s", b.Page, b.Text, formatted)
	}
}

// A block of JSON is a valid handler.
func checkJSON(t *testing.T, b pages.Block) {
	t.Helper()
	if err := validate([]byte(`{"apps": {"http": {"servers": {"s": {"listen": [":1"], "routes": [{"handle": [` + b.Text + `]}]}}}}}`)); err != nil {
		t.Errorf("%s: %v\n%s", b.Page, err, b.Text)
	}
}

// helps are the commands of caddy robots that have a help.
var helps = make(map[string]bool)

// A block for the shell uses commands of caddy robots that exist.
func checkCommands(t *testing.T, b pages.Block) {
	t.Helper()
	for line := range strings.Lines(b.Text) {
		args, found := strings.CutPrefix(strings.TrimSpace(line), "caddy robots ")
		sub, _, _ := strings.Cut(args, " ")
		if !found || helps[sub] {
			continue
		}
		out, err := exec.Command("caddy", "robots", sub, "--help").CombinedOutput()
		helps[sub] = err == nil && strings.Contains(string(out), "caddy robots "+sub)
		if !helps[sub] {
			t.Errorf("%s: %s: %v", b.Page, line, err)
		}
	}
}

// The commands print what the pages show. The exit status of some is a result.
func checkConsole(t *testing.T, b pages.Block) {
	t.Helper()
	for _, command := range strings.Split("\n"+b.Text, "\n$ ")[1:] {
		line, want, _ := strings.Cut(command, "\n")
		out, _ := exec.Command("bash", "-c", strings.ReplaceAll(line, "http://localhost:8080", url)).Output()
		if strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
			t.Errorf("%s: $ %s\nprints\n%s\nwant\n%s", b.Page, line, out, want)
		}
	}
}

// fences matches fenced blocks, and code in a line.
var fences = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")

// anchors returns the anchors of the headings of a page.
func anchors(text string) (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// Relative links lead to existing files and headings.
func checkLinks(t *testing.T) {
	all := documents(t)
	for _, pattern := range []string{"*.md", "docs/*/*.md", "testdata/*/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, more...)
	}
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	checked := 0
	for _, page := range all {
		for _, m := range link.FindAllStringSubmatch(fences.ReplaceAllString(read(t, page), ""), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", page, m[0])
			} else if m[2] != "" && !slices.Contains(anchors(read(t, target)), m[2]) {
				t.Errorf("%s: %s has no heading for %s", page, target, m[0])
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
	}
}

// What pages name exists.
func checkFacts(t *testing.T) {
	benchmarks := regexp.MustCompile("`([A-Z][A-Za-z]+)` in `([a-z0-9/]+)`").FindAllStringSubmatch(read(t, "docs/performance.md"), -1)
	if len(benchmarks) < 3 {
		t.Fatalf("only %d benchmarks were found", len(benchmarks))
	}
	for _, m := range benchmarks {
		files, _ := filepath.Glob(filepath.Join(m[2], "*_test.go"))
		if !slices.ContainsFunc(files, func(file string) bool { return strings.Contains(read(t, file), "func Benchmark"+m[1]+"(") }) {
			t.Errorf("%s has no benchmark %s", m[2], m[1])
		}
	}
}

// Each example is in a scenario or a test with a server.
func checkExamples(t *testing.T, files []string) {
	var tests strings.Builder
	for _, pattern := range []string{"testdata/scenarios/*.txtar", "caddymodule/internal/e2e/*_test.go"} {
		sources, _ := filepath.Glob(pattern)
		for _, source := range sources {
			tests.WriteString(read(t, source))
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".Caddyfile")
		if !regexp.MustCompile(`examples/` + name + `\.|example\(t, "` + name + `"|(?m)^: ` + name + ` `).MatchString(tests.String()) {
			t.Errorf("no test runs the example %s", name)
		}
	}
}

// The answers to the requests in docs/admin-api.md have the fields of the examples there.
func checkAnswers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	script := "host shop.example.com\nrepeat 2 {\nGET / as bingbot\nGET /private/plan.html as gptbot -> 403\nGET /\n}"
	scenario.New("", strings.Split(script, "\n"), map[string][]byte{
		"Caddyfile":  []byte("http://shop.example.com {\n\trobots\n\tfile_server\n}\n"),
		"robots.txt": []byte("User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 600\n"),
	}).Run(inProcess{dir}, dir, scenario.Options{}, func(p string) { t.Error(p) })
	text := read(t, filepath.Join(root, "docs/admin-api.md"))
	examples := regexp.MustCompile("(?s)```http\n(\\w+) (/robots/\\S*)\n```\n\n```js\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(examples) < 3 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for _, e := range examples {
		var want, got any
		answer, err := inProcess{dir}.Admin(e[1], e[2], "", "")
		if err == nil {
			err = json.Unmarshal([]byte(answer.Body), &got)
		}
		if err == nil {
			err = json.Unmarshal([]byte(e[3]), &want)
		}
		if err != nil {
			t.Errorf("%s %s: %v", e[1], e[2], err)
			continue
		}
		compareShape(t, e[1]+" "+e[2], want, got)
	}
	if err := caddy.Stop(); err != nil {
		t.Error(err)
	}
}

// compareShape compares an answer with an example: each field of the example must
// be there, with a value of the same type. Of lists, it compares the first entry.
func compareShape(t *testing.T, where string, example, answer any) {
	t.Helper()
	if reflect.TypeOf(example) != reflect.TypeOf(answer) {
		t.Errorf("%s: %v, and in the example %v", where, answer, example)
		return
	}
	switch example := example.(type) {
	case map[string]any:
		for name, value := range example {
			got, ok := answer.(map[string]any)[name]
			if !ok {
				t.Errorf("%s: there is no %s", where, name)
				continue
			}
			compareShape(t, where+" "+name, value, got)
		}
	case []any:
		list := answer.([]any)
		if (len(example) == 0) != (len(list) == 0) {
			t.Errorf("%s: %d entries, and in the example %d", where, len(list), len(example))
		} else if len(list) > 0 {
			compareShape(t, where, example[0], list[0])
		}
	case string:
		name := where[strings.LastIndex(where, " ")+1:]
		if slices.Contains([]string{"action", "reason", "rule", "layer", "crawler"}, name) && example != answer {
			t.Errorf("%s: %q, and in the example %q", where, answer, example)
		}
	}
}
