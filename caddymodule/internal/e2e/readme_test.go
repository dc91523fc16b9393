package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// readme returns the fenced blocks of the README and of the pages in docs, by
// language.
func readme(t *testing.T) map[string][]string {
	t.Helper()
	pages, _ := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	blocks := make(map[string][]string)
	for _, page := range append([]string{filepath.Join(root(t), "README.md")}, pages...) {
		for language, texts := range fenced(readFile(t, page)) {
			blocks[language] = append(blocks[language], texts...)
		}
	}
	return blocks
}

// fenced returns the fenced blocks of a text by language, without their
// indentation.
func fenced(text string) map[string][]string {
	blocks := make(map[string][]string)
	for _, m := range regexp.MustCompile("(?ms)^( *)```(\\w+)\n(.*?)^ *```$").FindAllStringSubmatch(text, -1) {
		blocks[m[2]] = append(blocks[m[2]], strings.TrimPrefix(strings.ReplaceAll("\n"+m[3], "\n"+m[1], "\n"), "\n"))
	}
	return blocks
}

// The commands in the README and docs, run in their order against the example,
// print what the pages show.
func TestREADMEConsole(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the README's commands are not run")
		return
	}
	s := start(t, exampleConfig(t))
	addresses := strings.NewReplacer("localhost:8080", fmt.Sprintf("localhost:%d", s.port), "localhost:2019", fmt.Sprintf("localhost:%d", s.admin))
	ran := 0
	for _, block := range readme(t)["console"] {
		for _, command := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, want, _ := strings.Cut(command, "\n")
			cmd := exec.Command("bash", "-c", addresses.Replace(line))
			cmd.Dir = root(t)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"), fmt.Sprintf("CADDY_ADMIN=localhost:%d", s.admin))
			out, _ := cmd.Output() // the exit status of some commands is a result
			if strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
				t.Errorf("$ %s\nprints\n%s\nwant\n%s", line, out, want)
			}
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands were found", ran)
	}
}

// The Caddyfiles in the README and docs load, and are as `caddy fmt` writes them.
func TestREADMECaddyfiles(t *testing.T) {
	t.Parallel()
	blocks := readme(t)["caddyfile"]
	if len(blocks) < 4 {
		t.Fatalf("only %d Caddyfiles were found", len(blocks))
	}
	for _, block := range blocks {
		validate(t, "caddyfile", block)
		if formatted := string(caddyfile.Format([]byte(block))); formatted != block {
			t.Errorf("not formatted:\n%s\nwant\n%s", block, formatted)
		}
	}
}

func TestREADMEJSON(t *testing.T) {
	t.Parallel()
	blocks := readme(t)["json"]
	if len(blocks) == 0 {
		t.Fatal("no JSON was found")
	}
	for _, block := range blocks {
		if !json.Valid([]byte(block)) {
			t.Errorf("not valid JSON:\n%s", block)
		}
		validate(t, "", `{"apps": {"http": {"servers": {"s": {"listen": [":1"], "routes": [{"handle": [`+block+`]}]}}}}}`)
	}
}

// The shell blocks in the README and docs use commands that exist.
func TestREADMECommandsExist(t *testing.T) {
	t.Parallel()
	checkCommands(t, readme(t)["sh"])
}

// checkCommands checks that commands of caddy robots exist.
func checkCommands(t *testing.T, blocks []string) {
	t.Helper()
	for _, block := range blocks {
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			if args, ok := strings.CutPrefix(line, "caddy robots "); ok {
				sub, _, _ := strings.Cut(args, " ")
				if out, err := exec.Command(binary, "robots", sub, "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "caddy robots "+sub) {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
}

// Relative links in the pages lead to existing files and headings.
func TestDocumentationLinks(t *testing.T) {
	t.Parallel()
	pages, _ := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	more, _ := filepath.Glob(filepath.Join(root(t), "*.md"))
	folders, _ := filepath.Glob(filepath.Join(root(t), "docs", "*", "*.md"))
	link := regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	checked := 0
	for _, page := range slices.Concat(pages, more, folders) {
		text := readFile(t, page)
		for _, m := range link.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", filepath.Base(page), m[0])
				continue
			}
			if m[2] != "" && !slices.Contains(anchors(readFile(t, target)), m[2]) {
				t.Errorf("%s: %s has no heading for %s", filepath.Base(page), filepath.Base(target), m[0])
			}
			checked++
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
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

// The Go programs in the pages print the output in their comments.
func TestDocumentationGo(t *testing.T) {
	t.Parallel()
	blocks := readme(t)["go"]
	if len(blocks) < 2 {
		t.Fatalf("only %d Go programs were found", len(blocks))
	}
	for _, block := range blocks {
		program, output, _ := strings.Cut(block, "// Output:")
		want := strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(output), "\t// ", ""), "\n}")
		path := filepath.Join(t.TempDir(), "main.go")
		writeFile(t, path, program+"}\n")
		cmd := exec.Command("go", "run", path)
		cmd.Dir = root(t)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != strings.TrimPrefix(want, "// ") {
			t.Errorf("%v: prints %q, want %q:\n%s", err, out, want, block)
		}
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func validate(t *testing.T, adapter, config string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	writeFile(t, path, config)
	cmd := exec.Command(binary, "validate", "--adapter", adapter, "--config", path)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir(), "SMTP_PASSWORD=x", "NTFY_TOKEN=x")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("not valid: %v\n%s\n%s", err, config, out)
	}
}
