package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readme has the fenced blocks of the README, and of the pages in docs, by
// language.
func readme(t *testing.T) map[string][]string {
	t.Helper()
	return blocksOf(t, "README.md")
}

// blocksOf has the fenced blocks of a page, by language.
func blocksOf(t *testing.T, page string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	for _, page := range pages {
		more, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, '\n'), more...)
	}
	blocks := make(map[string][]string)
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	return blocks
}

// The commands are run in the README's order against the example, and what
// they print is what it says.
func TestREADMEConsole(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the README's commands are not run")
		return
	}
	s := start(t, exampleConfig(t))
	ran := 0
	for _, block := range readme(t)["console"] {
		for _, command := range strings.Split("\n"+block, "\n$ ")[1:] {
			line, want, _ := strings.Cut(command, "\n")
			cmd := exec.Command("bash", "-c", strings.ReplaceAll(line, "localhost:8080", fmt.Sprintf("localhost:%d", s.port)))
			cmd.Dir = root(t)
			cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
			out, _ := cmd.Output() // some commands say with their status what they found
			if strings.TrimSpace(string(out)) != strings.TrimSpace(want) {
				t.Errorf("$ %s\nprints\n%s\nand not\n%s", line, out, want)
			}
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands were found", ran)
	}
}

func TestREADMECaddyfiles(t *testing.T) {
	t.Parallel()
	blocks := readme(t)["caddyfile"]
	if len(blocks) < 4 {
		t.Fatalf("only %d Caddyfiles were found", len(blocks))
	}
	for _, block := range blocks {
		validate(t, "caddyfile", block)
	}
}

// The Caddyfiles and commands of the pages below docs are valid too.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"docs/policies.md", "docs/answers.md", "docs/suspects.md"} {
		blocks := blocksOf(t, page)
		if len(blocks["caddyfile"]) == 0 {
			t.Errorf("%s has no Caddyfile", page)
		}
		for _, block := range blocks["caddyfile"] {
			validate(t, "caddyfile", block)
		}
		checkCommands(t, blocks["sh"])
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
			t.Errorf("no JSON:\n%s", block)
		}
		validate(t, "", `{"apps": {"http": {"servers": {"s": {"listen": [":1"], "routes": [{"handle": [`+block+`]}]}}}}}`)
	}
}

// The README's shell blocks name commands and files that there are.
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

func validate(t *testing.T, adapter, config string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	writeFile(t, path, config)
	cmd := exec.Command(binary, "validate", "--adapter", adapter, "--config", path)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_DATA_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("not valid: %v\n%s\n%s", err, config, out)
	}
}
