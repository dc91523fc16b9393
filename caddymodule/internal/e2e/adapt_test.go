package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
)

// command runs a Caddy command with a Caddyfile, and returns its output.
func command(t *testing.T, caddyfile string, args ...string) (stdout, stderr, path string, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, caddyfile)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append(args, "--adapter", "caddyfile", "--config", path)...)
	cmd.Dir = root(t)
	cmd.Env = append(cmd.Environ(), "HOME="+t.TempDir())
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err = cmd.Run()
	return out.String(), problems.String(), path, err
}

// adapt adapts a Caddyfile in this process, with the code that the commands and a reload
// run. It returns the error and the path that the error names.
func adapt(t *testing.T, caddyfile string) (path string, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "Caddyfile")
	writeFile(t, path, caddyfile)
	_, _, err = caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile), map[string]any{"filename": path})
	return path, err
}

// A Caddyfile can be adapted on a machine that does not have the files in it.
func TestAdaptingReadsNoFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, options, missing string }{
		{"a source", "source file /nowhere/robots.txt", "/nowhere/robots.txt"},
		{"a registry", "registry /nowhere/crawlers.jsonl", "/nowhere/crawlers.jsonl"},
		{"a source and other options", "source file /nowhere/robots.txt\n\t\tpublish\n\t\texempt GPTBot\n\t\tx_robots_tag *.pdf noindex", "/nowhere/robots.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := "{\n\tadmin off\n}\nhttp://:1 {\n\trobots {\n\t\t" + tt.options + "\n\t}\n}\n"
			adapted, problems, _, err := command(t, config, "adapt")
			if err != nil || !strings.Contains(adapted, tt.missing) {
				t.Errorf("adapting: %v\n%s%s", err, adapted, problems)
			}
			for _, verb := range []string{"validate", "run"} {
				out, problems, _, err := command(t, config, verb)
				if err == nil || !strings.Contains(out+problems, tt.missing) || !strings.Contains(out+problems, "no such file") && !strings.Contains(out+problems, "there is no file") {
					t.Errorf("%s: %v, want an error that names %s\n%s%s", verb, err, tt.missing, out, problems)
				}
			}
		})
	}
}

// Caddy does not reload if the adapted JSON is the same. So it must not depend on
// the lines of the Caddyfile, but for those that rules and errors are shown with.
func TestAdaptedJSONDoesNotDependOnLines(t *testing.T) {
	t.Parallel()
	lines := []string{
		"example.test {", "robots {", "source site", "exempt GPTBot", "exempt_paths /feed.xml",
		"x_robots_tag *.pdf noindex, nofollow", "x_robots_tag ~ \\.docx?$ googlebot: noindex", "x_robots_tag status 404 noindex",
		"crawler OurIndexer {", "user_agents our-indexer", "}", "crawl_delay {", "burst 2", "}", "}",
		"@crawlers robots class crawler", "respond @crawlers crawler", "respond page", "}",
	}
	adapt := func(between string, before string) string {
		t.Helper()
		text := strings.Join(lines, "\n"+between)
		adapted, problems, _, err := command(t, before+text+"\n", "adapt")
		if err != nil {
			t.Fatalf("%v\n%s", err, problems)
		}
		return adapted
	}
	want := adapt("", "")
	for name, got := range map[string]string{
		"lines before":          adapt("", "# a comment\n\n# another\n"),
		"lines between":         adapt("\n# a comment\n", ""),
		"a block of its own":    adapt("", "{\n}\n"),
		"many more lines there": adapt(strings.Repeat("\n", 50), strings.Repeat("\n", 50)),
	} {
		if got != want {
			t.Errorf("with %s:\n%s\nwithout:\n%s", name, got, want)
		}
	}
}

// An unknown name is an error with the line of the name.
func TestErrorOfAnUnknownCrawlerHasTheLine(t *testing.T) {
	t.Parallel()
	crawlers := filepath.Join(t.TempDir(), "crawlers.jsonl")
	writeFile(t, crawlers, `{"name": "TheirIndexer"}`+"\n")
	for _, tt := range []struct {
		options, want string // a part of the error; "": no error
		line          int    // the line in the error; 0: not checked
	}{
		{"exempt Googelbot", "Googlebot", 3},
		{"refresh 1m\n\t\texempt_paths /x\n\t\texempt UptimeRobot GPTBot Googelbot", "Googlebot", 5},
		{"exempt GTPBot", "GPTBot", 3},
		{"exempt NobodyKnowsThisOne", "NobodyKnowsThisOne", 3},
		{"crawler OurIndexer {\n\t\t\tuser_agents our-indexer\n\t\t}\n\t\texempt OurIndexr", "OurIndexer", 6},
		{"registry " + crawlers + "\n\t\texempt TheirIndexr", "TheirIndexer", 0},
		{"exempt Googlebot", "", 0},
		{"exempt googlebot", "", 0},
		{"exempt OurIndexer\n\t\tcrawler OurIndexer {\n\t\t\tuser_agents our-indexer\n\t\t}", "", 0},
		{"registry " + crawlers + "\n\t\texempt TheirIndexer", "", 0},
	} {
		t.Run(strings.ReplaceAll(tt.options, "\n\t\t", "; "), func(t *testing.T) {
			t.Parallel()
			out, problems, path, err := command(t, "http://:1 {\n\trobots {\n\t\t"+tt.options+"\n\t}\n}\n", "validate")
			message := out + problems
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("%v\n%s", err, message)
			case tt.want != "" && err == nil:
				t.Error("it is valid")
			case !strings.Contains(message, tt.want):
				t.Errorf("want %q, got:\n%s", tt.want, message)
			case tt.line != 0 && !strings.Contains(message, fmt.Sprintf("%s:%d", path, tt.line)):
				t.Errorf("want %s:%d, got:\n%s", path, tt.line, message)
			}
		})
	}
}
