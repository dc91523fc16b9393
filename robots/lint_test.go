package robots

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

var update = flag.Bool("update", false, "write the golden files of the linter")

const lintFolder = "../testdata/lint"

// made are the inputs that are too large to keep.
func made() map[string]string {
	var wild strings.Builder
	wild.WriteString("User-agent: *\n")
	for i := range 7000 {
		fmt.Fprintf(&wild, "Disallow: /*a%d*b\nAllow: /*c%d*d\n", i, i)
	}
	return map[string]string{
		"too-large":        "User-agent: *\n" + strings.Repeat("Disallow: /abcdefgh\n", MaxSize/20) + "Disallow: /beyond\n",
		"analysis-limited": wild.String(),
	}
}

// Each file of testdata/lint is named after the finding that it is an example
// of. Beside it are all findings in it, and the file as Fix leaves it.
func TestLint(t *testing.T) {
	inputs := made()
	files, err := filepath.Glob(filepath.Join(lintFolder, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs[strings.TrimSuffix(filepath.Base(file), ".txt")] = string(data)
	}
	for _, k := range Kinds() {
		if _, ok := inputs[k.Code]; !ok {
			t.Errorf("%s has no example", k.Code)
		}
	}
	for name, text := range inputs {
		t.Run(name, func(t *testing.T) {
			var opts []LintOption
			if name == "not-at-root" {
				opts = append(opts, WithLocation("https://www.example.com/blog/robots.txt"))
			}
			if name == "relative-sitemap" {
				opts = append(opts, WithLocation("https://www.example.com/robots.txt"))
			}
			f := Parse([]byte(text))
			findings := Lint(f, opts...)
			found := name == "clean" && len(findings) == 0
			for _, x := range findings {
				found = found || x.Code == name
			}
			if !found {
				t.Errorf("%s is not found", name)
			}
			if len(text) > 20_000 {
				return
			}
			golden(t, name+".findings", []byte(printFindings(findings)))
			fixed, err := Fix(f)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(fixed, []byte(text)) {
				golden(t, name+".fixed", fixed)
			}
		})
	}
}

func TestLintManyLines(t *testing.T) {
	text := strings.Repeat("\n", maxLines+1) + "User-agent: *\nDissallow: /a\n"
	findings := Lint(Parse([]byte(text)))
	if len(findings) != 1 || findings[0].Code != "analysis-limited" || findings[0].Line != maxLines+1 {
		t.Errorf("findings: %+v", findings)
	}
}

func printFindings(findings []Finding) string {
	var b strings.Builder
	for _, x := range findings {
		fmt.Fprintf(&b, "%d:%d %s %s %s", x.Line, x.Column, x.Severity, x.Code, strconv.Quote(x.Text))
		if x.Replacement != nil {
			fmt.Fprintf(&b, " -> %s", strconv.Quote(*x.Replacement))
		}
		if x.Safe {
			b.WriteString(" (safe)")
		}
		if x.Related > 0 {
			fmt.Fprintf(&b, " (line %d)", x.Related)
		}
		fmt.Fprintf(&b, "\n\t%s\n", x.Message)
	}
	return b.String()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(lintFolder, name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

// A finding's text stands where the finding says.
func FuzzLint(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), uint8(0))
	}
	for _, s := range []string{
		" USERAGENT *\n\n Dissallow /a b # c\r\nDisallow *\nSitemap: x\nSitemap: x",
		"\xef\xbb\xbf User-agent: a/1 #x\nDisallow: /%\nDisallow: /é é\n\nAllow: /*\nAllow: /a",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, dialect uint8) {
		file := Parse(data, WithDialect(Dialect(dialect%3)))
		var lines []Line
		for l := range file.Lines() {
			lines = append(lines, l)
		}
		for _, x := range Lint(file) {
			if kinds[x.Code].Title == "" {
				t.Fatalf("no kind %q", x.Code)
			}
			if x.Line < 1 || x.Line > len(lines)+1 || x.Related > len(lines) {
				t.Fatalf("%+v is on no line", x)
			}
			if x.Line <= len(lines) && x.Column-1 <= len(lines[x.Line-1].Raw) &&
				!strings.HasPrefix(lines[x.Line-1].Raw[x.Column-1:], x.Text) {
				t.Fatalf("%+v is not on line %q", x, lines[x.Line-1].Raw)
			}
		}
		checkFix(t, file)
	})
}

// checkFix holds that Fix changes no verdict.
func checkFix(t *testing.T, file *File) {
	t.Helper()
	fixed, err := Fix(file)
	if err != nil {
		return
	}
	again := Parse(fixed, WithDialect(file.Dialect()))
	for _, token := range append(file.Tokens(), "nobody") {
		a, b := file.Group(token), again.Group(token)
		paths := []string{"/", "/x"}
		for _, r := range append(a.Rules(), b.Rules()...) {
			if p, ok := pattern.Compile(r.Pattern, file.Dialect().Syntax(), false); ok {
				paths = append(paths, p.Example(""), p.Example("x"))
			}
		}
		for _, path := range paths[:min(len(paths), 50)] {
			if x, y := a.Match(path), b.Match(path); x.Allowed != y.Allowed {
				t.Fatalf("%q for %q was %v and is %v after\n%q\nbecame\n%q", path, token, x.Allowed, y.Allowed, file.Bytes(), fixed)
			}
		}
		x, okX := a.CrawlDelay()
		y, okY := b.CrawlDelay()
		if okX != okY || x.Delay != y.Delay {
			t.Fatalf("Crawl-delay for %q was %v and is %v after\n%q\nbecame\n%q", token, x, y, file.Bytes(), fixed)
		}
	}
}
