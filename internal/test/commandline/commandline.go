package commandline

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// Folder returns the folder with the inputs of commands and their expected output.
func Folder(t *testing.T) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !isRoot(root) {
		root = filepath.Dir(root)
	}
	return filepath.Join(root, "testdata", "commands")
}

// isRoot reports whether a folder is the root of the module, or of the file system.
func isRoot(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil || filepath.Dir(folder) == folder
}

// Update says to write the golden files: go test ./caddymodule/commands -update
var Update = flag.Bool("update", false, "write the golden files")

// Command returns `caddy robots` as the plugin registers it.
func Command() *cobra.Command {
	cmd := &cobra.Command{Use: "robots", SilenceUsage: true}
	caddycmd.Commands()["robots"].CobraFunc(cmd)
	return cmd
}

// Run runs a command below `caddy robots` and returns its exit status,
// as Caddy's main function derives it from the error.
func Run(stdin string, args ...string) (status int, stdout, stderr string) {
	root := Command()
	var out, errs bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		status = 1
		if n, _ := fmt.Sscanf(err.Error(), "exiting with status %d", &status); n != 1 {
			status = 1
		}
	}
	return status, out.String(), errs.String()
}

// site returns a server with several robots.txt files, redirects and errors.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	file := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Error(err)
			}
			w.Write(body)
		}
	}
	mux.HandleFunc("/robots.txt", file("clean.txt"))
	mux.HandleFunc("/page/robots.txt", file("page.html"))
	mux.HandleFunc("/blog/robots.txt", file("clean.txt"))
	mux.Handle("/moved/robots.txt", http.RedirectHandler("/robots.txt", http.StatusMovedPermanently))
	mux.HandleFunc("/failing/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "failing", http.StatusInternalServerError)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// graceEnds matches the end of a grace period that begins now.
var graceEnds = regexp.MustCompile(`"grace_ends":"[^"]+"`)

// Golden is a command whose output is in a golden file: its standard output, its
// standard error and its exit status. SITE and HOST stand for the address of a test
// server, EMPTY for the address of a server without a robots.txt.
type Golden = struct {
	Name   string // of the golden file
	Status int
	Args   string // separated by blanks
	Stdin  string
}

// Goldens runs commands in Folder, and compares their output with the
// golden files.
func Goldens(t *testing.T, tests []Golden) {
	t.Helper()
	t.Chdir(Folder(t))
	srv := site(t)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	const logs, auditData = "../../internal/logformat/testdata", "../../internal/audit/testdata"
	replace := strings.NewReplacer("LOGS", logs, "AUDIT", auditData, "SITE", srv.URL, "HOST", srv.Listener.Addr().String(), "EMPTY", empty.URL)
	restore := strings.NewReplacer(logs, "LOGS", auditData, "AUDIT", srv.URL, "SITE", empty.URL, "EMPTY", srv.Listener.Addr().String(), "HOST")
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			status, stdout, stderr := Run(tt.Stdin, strings.Fields(replace.Replace(tt.Args))...)
			if status != tt.Status {
				t.Errorf("exit status %d, want %d", status, tt.Status)
			}
			stdout = graceEnds.ReplaceAllString(stdout, `"grace_ends":"IN 24 HOURS"`)
			got := fmt.Sprintf("$ caddy robots %s\n%s", tt.Args, restore.Replace(stdout))
			if stderr != "" {
				got += "--- standard error\n" + restore.Replace(stderr)
			}
			got += fmt.Sprintf("--- exit status %d\n", status)
			Compare(t, tt.Name+".golden", got)
		})
	}
}

// Compare compares a text with a golden file, or writes the file.
func Compare(t *testing.T, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}
