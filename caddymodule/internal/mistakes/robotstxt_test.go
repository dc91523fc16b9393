package mistakes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/findings"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

func init() {
	caddy.RegisterModule(new(guard))
}

// guard is a step that may refuse requests without a robots.txt.
type guard struct{}

func (*guard) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: step.Namespace + ".guard", New: func() caddy.Module { return new(guard) }}
}

func (*guard) Info() step.Info                               { return step.Info{Enforces: true, Words: []string{"no-guests"}} }
func (*guard) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }
func (*guard) Join(step.Site) error                          { return nil }

// problemOf returns the problem of a file at example.com.
func problemOf(t *testing.T, text string, settings config.Settings, change func(*mistakes.File)) statusapi.Problem {
	t.Helper()
	content := judge.Content{Outcome: judge.Loaded, Body: []byte(text)}
	f := &mistakes.File{Subject: "example.com", State: func() string { return "as it is" }, Needed: settings.NeedsFile(),
		Unneeded: settings.IsAboutHeaders()}
	f.Rules = rulesOf(t, content)
	f.Review = mistakes.Find(f.Rules, lint.Lint(f.Rules.File(), findings.Crawlers(crawler.Builtin())))
	if change != nil {
		change(f)
	}
	return f.Problem()
}

func rulesOf(t *testing.T, content judge.Content) *judge.Rules {
	t.Helper()
	settings, err := judge.Settings{Registry: crawler.Builtin()}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return settings.RulesOf(content)
}

// What a file says, and which line of it is named. Each file is alone: the block has no
// other line.
func TestProblemsOfFiles(t *testing.T) {
	const star = "User-agent: *\n"
	for _, tt := range []struct {
		name, file string
		kind       string // "" for none
		line       int
		message    string
		advice     string
	}{
		{name: "a file with rules", file: star + "Disallow: /private/\n"},
		{name: "everything is disallowed", file: star + "Disallow: /\n"},
		{name: "a lone Disallow", file: star + "Disallow:\n"},
		{name: "Allow without a path", file: star + "Allow:\n"},
		{name: "everything is allowed", file: star + "Allow: /\n"},
		{name: "only a delay", file: star + "Crawl-delay: 10\n"},
		{name: "only a preference", file: star + "Content-Signal: ai-train=no\n"},
		{name: "a name that the registry does not have", file: "User-agent: OurBot\nDisallow: /\n"},
		{name: "a name that is sent beside one that is not", file: "User-agent: Google-Extended\nUser-agent: GPTBot\nDisallow: /\n"},
		{name: "lines that other crawlers read", file: star + "Disallow: /a\nClean-param: s /\nHost: a.test\nSitemap: https://a.test/s.xml\nDissallow: /b\n"},
		{name: "a key that nobody reads", file: star + "Disallow: /a\nPriority: 1\n"},
		{name: "plain text", file: "Hello\n" + star + "Disallow: /a\n"},
		{name: "a rule that another one has already", file: star + "Disallow: /a\nDisallow: /a/b\n"},
		{name: "an exception", file: star + "Disallow: /a\nAllow: /a/b\n"},
		{name: "a search engine is shut out", file: "User-agent: Googlebot\nDisallow: /\n"},
		{name: "what only Google reads otherwise", file: star + "Disallow all: /\nDisallow: /a b\nDisallow: /%7Ex\n"},
		{name: "a mistake on purpose", file: star + "# robots-lint: ignore missing-slash\nDisallow: private/\nDisallow: /a\n"},

		{name: "no slash", file: star + "Dissallow: private/\n", kind: "mistake", line: 2, message: "line 2 of robots.txt of example.com, `Dissallow: private/`, does not do what it says: the path does not start with a slash", advice: "Write `Disallow: /private/`."},
		{name: "an unfinished merge", file: "<<<<<<< HEAD\n" + star + "Disallow: /a\n=======\nDisallow: /b\n>>>>>>> next\n", kind: "mistake", line: 1, message: "a merge was not finished (and 2 more findings like it)", advice: "Keep one of the two versions"},
		{name: "rules before any User-agent", file: "Disallow: /a\n" + star + "Disallow: /b\n", kind: "mistake", line: 1, message: "there is no User-agent line above this rule", advice: "Write `User-agent: *` above it"},
		{name: "a misspelt key that nobody reads", file: star + "Disallow: /a\nDsallow: /b\n", kind: "mistake", line: 3, message: "did you mean Disallow?", advice: "Write `Disallow: /b`."},
		{name: "a misspelt delay", file: star + "Disallow: /a\nCrawl-dely: 10\n", kind: "mistake", line: 3},
		{name: "an equals sign", file: star + "Disallow: /a\nDisallow=/b\n", kind: "mistake", line: 3, advice: "Write `Disallow: /b`."},
		{name: "a colon that is missing, and that crawlers read", file: star + "Disallow /a\n"},
		{name: "a misspelt User-agent", file: "User-agnt: GPTBot\nDisallow: /a\n\n" + star + "Disallow: /b\n", kind: "mistake", line: 1},
		{name: "a misspelt name", file: "User-agent: Gptbott\nDisallow: /\n\n" + star + "Disallow: /a\n", kind: "mistake", line: 1, advice: "Write `User-agent: GPTBot`."},
		{name: "a whole User-Agent", file: "User-agent: Mozilla/5.0 (compatible; GPTBot/1.2)\nDisallow: /\n", kind: "mistake", line: 1},
		{name: "a blank line that ends no group", file: "User-agent: CCBot\n\n" + star + "Disallow: /a\n", kind: "mistake", line: 3},
		{name: "a URL", file: star + "Disallow: https://example.com/a\n", kind: "mistake", line: 2, advice: "Write `Disallow: /a`."},
		{name: "several paths", file: star + "Disallow: /a /b\n", kind: "mistake", line: 2},
		{name: "text behind $", file: star + "Disallow: /*.pdf$/\n", kind: "mistake", line: 2, advice: "Write `Disallow: /*.pdf$`."},
		{name: "a comma", file: star + "Disallow: /a,\n", kind: "mistake", line: 2},
		{name: "an invisible character", file: star + "Disallow: /a\u00a0\n", kind: "mistake", line: 2},
		{name: "Allow of what is disallowed", file: star + "Disallow: /\nAllow: /\n", kind: "mistake", line: 2},
		{name: "a longer Allow for all", file: star + "Disallow: /blog-\nAllow: /*blog-\n", kind: "mistake", line: 2},
		{name: "a delay in words", file: star + "Disallow: /a\nCrawl-delay: ten\n", kind: "mistake", line: 3},

		{name: "an empty file", kind: "no_rules", message: "as it is", advice: "`Disallow:`"},
		{name: "only comments", file: "# none\n", kind: "no_rules"},
		{name: "only a Sitemap", file: "Sitemap: https://a.test/s.xml\n", kind: "no_rules", message: "robots.txt of example.com has no rules"},
		{name: "a group without lines", file: star, kind: "no_rules"},
		{name: "only a name that no crawler sends", file: "User-agent: Google-Extended\nDisallow: /\n", kind: "no_rules", message: "groups for nobody else than Google-Extended"},
		{name: "only names that nobody or people send", file: "User-agent: Google-Extended\nUser-agent: FrontPage\nDisallow: /\n", kind: "no_rules"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := problemOf(t, tt.file, config.Settings{}, nil)
			if p.Kind != tt.kind || p.Line != tt.line || !strings.Contains(p.Message, tt.message) || !strings.Contains(p.Advice, tt.advice) {
				t.Errorf("%+v, want kind %q, line %d, %q, %q", p, tt.kind, tt.line, tt.message, tt.advice)
			}
			if text, isWritten := strings.CutPrefix(tt.advice, "Write `"); isWritten && strings.HasSuffix(text, "`.") &&
				(len(p.Actions) != 2 || p.Actions[0].Text != strings.TrimSuffix(text, "`.")) {
				t.Errorf("to copy: %+v, want %s", p.Actions, text)
			}
			if p.Kind == "" && p.Severity != "" || p.Kind != "" && (p.Severity != statusapi.Warning || p.Advice == "") {
				t.Errorf("%+v", p)
			}
		})
	}
}

// What the site answers in place of a file, and what else the block says.
func TestProblemsWithoutAFile(t *testing.T) {
	outcome := func(o judge.Outcome, status int) func(*mistakes.File) {
		return func(f *mistakes.File) {
			f.Last, f.Rules, f.Review = o, rulesOf(t, judge.Content{Outcome: o, Status: status}), nil
		}
	}
	missing, forbidden, redirected := outcome(judge.Missing, 404), outcome(judge.Forbidden, 403), outcome(judge.Redirected, 0)
	kept := func(f *mistakes.File) { f.Last, f.HasCopy = judge.Forbidden, true }
	unreviewed := func(f *mistakes.File) { f.Review = nil }
	guarded := config.Settings{Steps: caddy.ModuleMap{"guard": json.RawMessage("{}")}}
	tagged := config.Settings{XRobotsTag: make([]headers.Setting, 1)}
	for _, tt := range []struct {
		name     string
		file     string
		settings config.Settings
		change   func(*mistakes.File)
		kind     string
		advice   string
	}{
		{"no file", "", config.Settings{}, missing, "no_rules", "`robots no-guests`"},
		{"no file, and a guard", "", guarded, missing, "", ""},
		{"no file, and headers", "", tagged, missing, "", ""},
		{"no file, and other lines", "", config.Settings{Mode: config.ModeMonitor, MaxOrigins: 7}, missing, "no_rules", ""},
		{"an empty file, and a guard", "", guarded, nil, "", ""},
		{"a name that no crawler sends, and a guard", "User-agent: Google-Extended\nDisallow: /\n", guarded, nil, "", ""},
		{"a broken line, and a guard", "User-agent: *\nDisallow: a\n", guarded, nil, "mistake", ""},
		{"a broken line, and headers", "User-agent: *\nDisallow: a\n", tagged, nil, "mistake", ""},
		{"a broken line that was not looked at", "User-agent: *\nDisallow: a\n", config.Settings{}, unreviewed, "", ""},
		{"403", "", config.Settings{}, forbidden, "no_rules", "Let everybody fetch /robots.txt"},
		{"403, and a guard", "", guarded, forbidden, "no_rules", ""},
		{"403, and headers", "", tagged, forbidden, "", ""},
		{"403, and an earlier copy", "User-agent: *\nDisallow: /a\n", config.Settings{}, kept, "", ""},
		{"another host", "", config.Settings{}, redirected, "no_rules", "without a redirect"},
		{"a failure, which is a problem of its own", "", config.Settings{}, outcome(judge.Failed, 0), "", ""},
		{"nothing read yet", "", config.Settings{}, outcome(judge.Pending, 0), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if p := problemOf(t, tt.file, tt.settings, tt.change); p.Kind != tt.kind || !strings.Contains(p.Advice, tt.advice) {
				t.Errorf("%+v, want %q, %q", p, tt.kind, tt.advice)
			}
		})
	}
}

// The real files that ROBOTS_CORPUS names have mistakes in these lines, each of which was
// looked at: the rule is lost, or applies to other crawlers than it says.
func TestMistakesOfRealFiles(t *testing.T) {
	corpus := os.Getenv("ROBOTS_CORPUS")
	if corpus == "" {
		t.Log("ROBOTS_CORPUS is not set: there are no files to read")
		return
	}
	files, err := filepath.Glob(filepath.Join(corpus, "real-robots", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", corpus, err)
	}
	var got []string
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if robots.CheckText(body) != nil {
			continue
		}
		if p := problemOf(t, string(body), config.Settings{}, nil); p.Kind != "" {
			got = append(got, filepath.Base(file))
			t.Logf("%s: %s\n%s", filepath.Base(file), p.Message, p.Advice)
		}
	}
	want := []string{"003.txt", "015.txt", "051.txt", "057.txt", "063.txt", "071.txt", "073.txt", "080.txt", "089.txt", "112.txt", "131.txt", "141.txt"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
