package cli_test

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

	_ "github.com/caddy-robots/caddy-robots/caddymodule"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// commandsFolder has the inputs of commands and their expected output.
const commandsFolder = "../../../testdata/commands"

// update writes the golden files: go test ./caddymodule/internal/cli -update
var update = flag.Bool("update", false, "write the golden files")

// robotsCommand returns `caddy robots` as the plugin registers it.
func robotsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "robots", SilenceUsage: true}
	caddycmd.Commands()["robots"].CobraFunc(cmd)
	return cmd
}

// The help of each command ends with this project's documentation.
func TestHelpEndsWithDocumentation(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"lint", "--help"}} {
		if _, out, _ := runCommand("", args...); !strings.HasSuffix(out, "/caddy-robots/tree/main/docs\n") {
			t.Errorf("%q ends with %q", args, out[max(0, len(out)-80):])
		}
	}
}

func TestVersion(t *testing.T) {
	if _, out, _ := runCommand("", "--version"); out != "caddy-robots devel\n" {
		t.Errorf("%q", out)
	}
}

// runCommand runs a command below `caddy robots` and returns its exit status,
// as Caddy's main function derives it from the error.
func runCommand(stdin string, args ...string) (status int, stdout, stderr string) {
	root := robotsCommand()
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
	mux.HandleFunc("/huge/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(bytes.Repeat([]byte("Disallow: /20-octets\n"), 1<<20))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// graceEnds matches the end of a grace period that begins now.
var graceEnds = regexp.MustCompile(`"grace_ends":"[^"]+"`)

// goldenTest is a command whose output is in a golden file: its standard output, its
// standard error and its exit status. SITE and HOST stand for the address of a test
// server, EMPTY for the address of a server without a robots.txt.
type goldenTest struct {
	golden string
	status int
	args   string // separated by blanks
	stdin  string
}

// runGoldens runs commands in commandsFolder, and compares their output with the
// golden files.
func runGoldens(t *testing.T, tests []goldenTest) {
	t.Helper()
	t.Chdir(commandsFolder)
	srv := site(t)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	const logs, auditData = "../../internal/logformat/testdata", "../../internal/audit/testdata"
	replace := strings.NewReplacer("LOGS", logs, "AUDIT", auditData, "SITE", srv.URL, "HOST", srv.Listener.Addr().String(), "EMPTY", empty.URL)
	restore := strings.NewReplacer(logs, "LOGS", auditData, "AUDIT", srv.URL, "SITE", empty.URL, "EMPTY", srv.Listener.Addr().String(), "HOST")
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			status, stdout, stderr := runCommand(tt.stdin, strings.Fields(replace.Replace(tt.args))...)
			if status != tt.status {
				t.Errorf("exit status %d, want %d", status, tt.status)
			}
			stdout = graceEnds.ReplaceAllString(stdout, `"grace_ends":"IN 24 HOURS"`)
			got := fmt.Sprintf("$ caddy robots %s\n%s", tt.args, restore.Replace(stdout))
			if stderr != "" {
				got += "--- standard error\n" + restore.Replace(stderr)
			}
			got += fmt.Sprintf("--- exit status %d\n", status)
			compareGolden(t, tt.golden+".golden", got)
		})
	}
}

func TestCommandsPrint(t *testing.T) {
	runGoldens(t, []goldenTest{
		{"init", 0, "init --config init.json --site example.com --robots init.txt", ""},
		{"init-several", 0, "init --config init.json", ""},
		{"init-url", 0, "init --config init.json --site internal --robots SITE", ""},
		{"init-url-missing", 0, "init --config init.json --site internal --robots SITE/none/robots.txt", ""},
		{"init-url-failing", 1, "init --config init.json --site internal --robots SITE/failing/robots.txt", ""},
		{"init-without-config", 0, "init --robots clean.txt", ""},
		{"init-config-missing", 1, "init --config nothing-here", ""},
		{"init-several-one-robots", 1, "init --config init.json --robots init.txt", ""},
		{"init-any-host", 0, "init --config init.json --site other.test", ""},
		{"init-nothing-left", 1, "init --config tags.caddyfile", ""},

		{"lint", 3, "lint mistakes.txt", ""},
		{"lint-json", 3, "lint --json mistakes.txt", ""},
		{"lint-sarif", 3, "lint --sarif mistakes.txt clean.txt", ""},
		{"lint-clean", 0, "lint clean.txt", ""},
		{"lint-config", 2, "lint --config tags.caddyfile clean.txt", ""},
		{"lint-config-json", 2, "lint --json --config tags.caddyfile clean.txt", ""},
		{"lint-config-missing", 1, "lint --config nothing-here clean.txt", ""},
		{"lint-clean-json", 0, "lint --json clean.txt", ""},
		{"lint-warning", 2, "lint -", "User-agent: *\nDisallow: /\n"},
		{"lint-info", 0, "lint -", "USER-AGENT: *\nDisallow: /a\n"},
		{"lint-dialect-1994", 0, "lint --dialect 1994 -", "User-agent: *\nDisallow: /a\n"},
		{"lint-several", 3, "lint clean.txt mistakes.txt --json", ""},
		{"lint-url", 0, "lint SITE", ""},
		{"lint-url-redirected", 3, "lint SITE/moved/robots.txt", ""},
		{"lint-url-not-at-root", 3, "lint SITE/blog/robots.txt", ""},
		{"lint-url-with-password", 0, "lint http://user:secret@HOST/robots.txt", ""},
		{"lint-500-with-password", 1, "lint http://user:secret@HOST/failing/robots.txt", ""},
		{"lint-fix", 2, "lint --fix fixable.txt", ""},
		{"lint-fix-left", 3, "lint --fix mistakes.txt", ""},
		{"lint-fix-stdin", 0, "lint --fix -", "USER-AGENT: *\nDisallow: /a\n"},

		{"lint-info-shown", 0, "lint --info -", "USER-AGENT: *\nDisallow: /a\n"},
		{"lint-select", 2, "lint --select never-decides,upper-case-key mistakes.txt -", "USER-AGENT: *\nDisallow: /a\nDisallow: /a\nDisallow: b\n"},
		{"lint-select-unknown", 1, "lint --select never-decide mistakes.txt", ""},
		{"lint-ignore", 2, "lint --ignore missing-slash -", "User-agent: *\nDissallow: /a\nDisallow: b\n"},
		{"lint-fail-on-error", 0, "lint --fail-on error -", "User-agent: *\nDissallow: /a\n"},
		{"lint-fail-on-info", 2, "lint --fail-on info -", "USER-AGENT: *\nDisallow: /a\n"},
		{"lint-fail-on-never", 0, "lint --fail-on never mistakes.txt", ""},
		{"lint-fail-on-unknown", 1, "lint --fail-on often mistakes.txt", ""},
		{"lint-suppressed", 0, "lint -", "User-agent: *\nDissallow: /a # robots-lint: ignore misspelt-key\n"},
		{"lint-unknown-format", 1, "lint --format xml mistakes.txt", ""},
		{"lint-fix-unsafe", 0, "lint --unsafe-fixes fixable.txt", ""},
		{"lint-fix-diff", 0, "lint --unsafe-fixes --diff fixable.txt clean.txt", ""},
		{"lint-fix-diff-nothing", 3, "lint --fix --diff -", "User-agent: *\nDissallow: a\n  Allow: /b\n"},
		{"lint-unsafe-fixes-diff-nothing", 0, "lint --unsafe-fixes --diff clean.txt", ""},
		{"lint-fix-diff-nothing-json", 3, "lint --fix --diff --json -", "User-agent: *\nDisallow: a\n"},
		{"lint-info-corrected", 2, "lint -", "USER-AGENT: *\nDissallow: /a # b\n"},
		{"lint-fix-diff-no-newline", 0, "lint --fix --diff -", "USER-AGENT: *\nDISALLOW: /a"},
		{"lint-diff-alone", 1, "lint --diff clean.txt", ""},
		{"lint-some-missing", 1, "lint clean.txt nothing-here.txt mistakes.txt", ""},
		{"lint-some-missing-sarif", 1, "lint --sarif nothing-here.txt clean.txt", ""},
		{"lint-invalid-url-with-password", 1, "lint http://user:sec%zzret@HOST/robots.txt", ""},
		{"lint-odd-port-with-password", 1, "lint http://user:sec/ret@HOST/robots.txt", ""},
		{"lint-other-scheme-with-password", 1, "lint ftp://user:secret@HOST/robots.txt", ""},
		{"lint-write-url-with-password", 1, "lint --fix --write HTTP://user:secret@HOST/robots.txt", ""},
		{"lint-dead-url-with-password", 1, "lint http://user:secret@127.0.0.1:1/robots.txt", ""},
		{"lint-json-url-with-password", 3, "lint --json http://user:secret@HOST/blog/robots.txt", ""},

		{"check-other-scheme-with-password", 1, "check -a GPTBot -r ftp://user:secret@HOST/robots.txt /", ""},
		{"diff-invalid-url-with-password", 1, "diff clean.txt http://user:sec%zzret@HOST/", ""},

		{"explain", 0, "explain missing-slash byte-order-mark", ""},
		{"explain-unknown", 1, "explain mising-slash", ""},

		{"lint-missing", 1, "lint nothing-here.txt", ""},
		{"lint-500", 1, "lint SITE/failing/robots.txt", ""},
		{"lint-404", 1, "lint EMPTY/robots.txt", ""},
		{"lint-huge", 1, "lint SITE/huge/robots.txt", ""},
		{"lint-html", 3, "lint SITE/page/robots.txt", ""},
		{"lint-binary", 3, "lint binary.dat", ""},
		{"lint-folder", 1, "lint .", ""},
		{"lint-unknown-dialect", 1, "lint --dialect 2024 clean.txt", ""},
		{"lint-json-and-sarif", 1, "lint --json --sarif clean.txt", ""},
		{"lint-write-alone", 1, "lint --write clean.txt", ""},
		{"lint-write-stdin", 1, "lint --fix --write -", "User-agent: *\n"},
		{"lint-fix-several", 1, "lint --fix clean.txt mistakes.txt", ""},

		{"identify-config", 0, "identify --config crawlers.caddyfile our-indexer/1.0 curl/8.5.0", ""},
		{"identify-config-strict", 1, "identify --config crawlers.caddyfile --strict our-indexer/1.0", ""},

		{"diff", 2, "diff old.txt new.txt", ""},
		{"diff-full", 2, "diff --full old.txt new.txt", ""},
		{"diff-json", 2, "diff --json old.txt new.txt", ""},
		{"diff-same", 0, "diff old.txt old.txt", ""},
		{"diff-stdin", 2, "diff - clean.txt", "User-agent: *\nDisallow:\n"},
		{"diff-url", 0, "diff clean.txt SITE", ""},
		{"diff-html", 1, "diff clean.txt page.html", ""},
		{"diff-binary", 1, "diff clean.txt binary.dat", ""},
		{"diff-missing", 1, "diff clean.txt nothing-here.txt", ""},
		{"diff-500", 1, "diff clean.txt SITE/failing/robots.txt", ""},
		{"diff-two-stdins", 1, "diff - -", ""},

		{"check", 2, "check -a bingbot -r pace.txt / /private/x /private/press/", ""},
		{"check-json", 2, "check -a bingbot -r pace.txt --json / /private/x", ""},
		{"check-before", 2, "check -a Googlebot -r - --before clean.txt /archive/x /private/x", "User-agent: *\nDisallow: /archive/\nDisallow: /private/\n"},
		{"check-before-json", 0, "check -a Googlebot -r - --before clean.txt --json /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-other", 2, "check -a GPTBot -r - --before clean.txt /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-all", 0, "check -a GPTBot -r - --before clean.txt --grace all /archive/x", "User-agent: *\nDisallow: /archive/\n"},
		{"check-before-unknown", 1, "check -a GPTBot -r pace.txt --before clean.txt --grace some /archive/x", ""},
		{"check-before-none", 0, "check -a Googlebot --before EMPTY/robots.txt SITE/private/", ""},
		{"check-max", 0, "check -a bingbot -r pace.txt --json --max-crawl-delay 1h /", ""},
		{"check-star", 2, "check -a anybot/1.0 -r pace.txt / //private/x /private/press/kit", ""},
		{"check-delay-unread", 0, "check -a Googlebot -r pace.txt /", ""},
		{"check-strict", 0, "check -a Googlebot -r pace.txt --strict /", ""},
		{"check-person", 0, "check -a Firefox/140.0 -r pace.txt /private/", ""},
		{"check-library", 0, "check -a curl/8.5.0 -r pace.txt /private/", ""},
		{"check-library-held", 2, "check -a curl/8.5.0 -r pace.txt --http-clients /private/", ""},
		{"check-empty-agent", 2, "check --agent= --http-clients -r - / /private/", "User-agent: *\nDisallow: /private/\n"},
		{"check-stdin", 2, "check -a GPTBot -r - /a", "User-agent: GPTBot\nDisallow: /\n"},
		{"check-site", 2, "check -a GPTBot SITE/private/ SITE/", ""},
		{"check-monitor", 2, "check -a CCBot -c monitor.caddyfile https://www.example.com/private/ https://www.example.com/", ""},
		{"check-no-robots", 0, "check -a GPTBot EMPTY/private/", ""},
		{"check-404", 1, "check -a GPTBot -r EMPTY/robots.txt /", ""},
		{"check-500", 1, "check -a GPTBot -r SITE/failing/robots.txt /", ""},
		{"check-html", 1, "check -a GPTBot -r page.html /", ""},
		{"check-binary", 1, "check -a GPTBot -r binary.dat /", ""},
		{"check-huge", 1, "check -a GPTBot -r SITE/huge/robots.txt /", ""},
		{"check-path-alone", 1, "check -a GPTBot /private/", ""},
		{"check-misspelt", 1, "check -a GPTBto -r pace.txt /private/", ""},
		{"check-misspelt-json", 1, "check -a googelbot -r pace.txt --json /private/", ""},
		{"check-misspelt-in-file", 1, "check -a Acmebto -r - /a", "User-agent: AcmeBot\nDisallow: /\n"},
		{"check-unknown", 1, "check -a Zzzzzzzzzzzzzz -r pace.txt /private/", ""},
		{"check-unknown-user-agent", 0, "check -a GPTBto/1.0 -r pace.txt /private/", ""},
		{"check-in-file", 2, "check -a gptbto -r - /a", "User-agent: GPTBto\nDisallow: /\n"},
		{"check-registry-name", 1, "check -a Seekport -r pace.txt /private/", ""},
		{"check-control-only", 2, "check -a Google-Extended -r pace.txt /private/", ""},
		{"check-shed", 0, "check -a GPTBot -c shed.caddyfile -r pace.txt /", ""},
		{"check-shed-json", 0, "check -a GPTBot -c shed.caddyfile -r pace.txt --json /", ""},
		{"check-shed-never", 0, "check -a curl -c shed.caddyfile -r pace.txt /", ""},
		{"check-no-agent", 1, "check -r pace.txt /", ""},

		{"audit", 0, "audit -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-json", 0, "audit --json -r AUDIT/robots.txt LOGS/caddy.log", ""},
		{"audit-full", 0, "audit --full -r AUDIT/robots.txt LOGS/vhost-combined.log", ""},
		{"audit-config", 0, "audit -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-config-site", 0, "audit -c audit.caddyfile --site www.example.com LOGS/caddy.log", ""},
		{"audit-config-robots", 0, "audit -c audit.caddyfile -r audit-old.txt LOGS/caddy.log", ""},
		{"audit-config-strict", 1, "audit -c audit.caddyfile --strict LOGS/caddy.log", ""},
		{"audit-against", 2, "audit -r AUDIT/robots.txt --against audit-old.txt LOGS/combined.log", ""},
		{"audit-against-better", 0, "audit -r audit-old.txt --against AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-configs", 0, "audit -c audit.caddyfile -c audit-new.caddyfile LOGS/caddy.log", ""},
		{"audit-configs-worse", 2, "audit -c audit-new.caddyfile -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-configs-site", 0, "audit -c audit.caddyfile -c audit-new.caddyfile --site www.example.com LOGS/caddy.log", ""},
		{"audit-configs-no-site", 1, "audit -c audit.caddyfile -c audit-new.caddyfile --site example.org LOGS/caddy.log", ""},
		{"audit-configs-three", 1, "audit -c audit.caddyfile -c audit-new.caddyfile -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-configs-against", 1, "audit -c audit.caddyfile -c audit-new.caddyfile --against audit-old.txt LOGS/caddy.log", ""},
		{"audit-versions", 0, "audit -r 2026-11-07T12:00:15Z=AUDIT/robots.txt -r 2026-11-01=audit-old.txt LOGS/combined.log", ""},
		{"audit-versions-undated", 1, "audit -r audit-old.txt -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-none", 0, "audit -r none LOGS/caddy.log", ""},
		{"audit-glob", 0, "audit -r none LOGS/caddy-[r2]*.log", ""},
		{"audit-glob-empty", 1, "audit -r none LOGS/nothing*.log", ""},
		{"audit-stdin", 0, "audit -r audit-old.txt -", "192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 5 \"-\" \"\x1b]0;Bad\u202eBot/1.0 \xff(+https://example.org)\"\nnothing\n"},
		{"audit-suggest-short", 0, "audit --suggest -r AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-suggest-stdin", 1, "audit --suggest -r AUDIT/robots.txt -", ""},
		{"audit-suggest-none", 1, "audit --suggest -r none LOGS/caddy.log", ""},
		{"audit-suggest-sites", 1, "audit --suggest -c audit.caddyfile LOGS/caddy.log", ""},
		{"audit-host", 0, "audit -r AUDIT/robots.txt --host WWW.example.com. LOGS/vhost-combined.log", ""},
		{"audit-host-unknown", 1, "audit -r none --host example.org LOGS/vhost-combined.log", ""},
		{"audit-host-not-configured", 1, "audit -c audit.caddyfile --host example.org LOGS/caddy.log", ""},
		{"audit-host-suggest", 0, "audit --suggest -c audit.caddyfile --host www.example.com LOGS/caddy.log", ""},
		{"audit-suggest-sitemap", 1, "audit --suggest -r AUDIT/robots.txt --sitemap AUDIT/robots.txt LOGS/combined.log", ""},
		{"audit-sitemap-alone", 1, "audit -r none --sitemap none LOGS/combined.log", ""},
		{"audit-no-agents", 1, "audit -r none LOGS/common.log", ""},
		{"audit-no-log", 1, "audit -r none clean.txt", ""},
		{"audit-missing", 1, "audit -r none nothing-here.log", ""},
		{"audit-folder", 1, "audit -r none LOGS", ""},
		{"audit-zone", 0, "audit -r none --zone +02:00 LOGS/caddy-renamed.log", ""},
		{"audit-zone-unknown", 1, "audit -r none --zone Nowhere LOGS/caddy-renamed.log", ""},
		{"audit-decided", 0, "audit --decided decided.log", ""},
		{"audit-decided-host", 0, "audit --decided --host t401.example decided.log", ""},
		{"audit-decided-client", 0, "audit --decided --client 20.171.207.5 --at 2026-11-23T15:03 --zone +01:00 decided.log", ""},
		{"audit-decided-nearest", 0, "audit --decided --at 2026-11-23T14:05 decided.log", ""},
		{"audit-decided-json", 0, "audit --decided --json --client 198.51.100.0/24 decided.log", ""},
		{"audit-decided-none", 1, "audit --decided LOGS/combined.log", ""},
		{"audit-decided-suggest", 1, "audit --decided --suggest decided.log", ""},
		{"audit-client-alone", 1, "audit --client 192.0.2.1 decided.log", ""},
		{"audit-client-invalid", 1, "audit --decided --client example.com decided.log", ""},
		{"audit-at-invalid", 1, "audit --decided --at yesterday decided.log", ""},
		{"audit-requests", 0, "audit --decided --requests gptbot decided.log", ""},
		{"audit-requests-json", 0, "audit --decided --requests GPTBot --json decided.log", ""},
		{"audit-requests-unknown", 1, "audit --decided --requests Bingbot decided.log", ""},
		{"audit-requests-alone", 1, "audit --requests GPTBot decided.log", ""},
		{"audit-resolver-alone", 1, "audit -r none --resolver 192.0.2.53 LOGS/combined.log", ""},
	})
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
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

func TestLintWritesFilesBack(t *testing.T) {
	before, err := os.ReadFile(filepath.Join(commandsFolder, "fixable.txt"))
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := lint.Fix(robots.Parse(before), lint.Unsafe)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file, link := filepath.Join(folder, "robots.txt"), filepath.Join(folder, "link.txt")
	if err := os.WriteFile(file, before, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("robots.txt", link); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := runCommand("", "lint", "--unsafe-fixes", "--write", link); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(after, fixed) || bytes.Equal(after, before) {
		t.Errorf("the file is now %q, want %q", after, fixed)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the symbolic link was replaced: %v %v", info, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode has changed to %v: %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
		t.Errorf("the folder has the entries %v: %v", entries, err)
	}
	if status, _, _ := runCommand("", "lint", "--unsafe-fixes", "--write", file); status != 0 {
		t.Error("a file that is correct can't be written back")
	}
	if again, err := os.Stat(file); err != nil || !again.ModTime().Equal(info.ModTime()) {
		t.Errorf("a file without anything to correct was written: %v", err)
	}
}
