package report

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

func document(text string) *Document {
	f := robots.Parse([]byte(text))
	return &Document{Name: "robots.txt", File: f, Findings: lint.Lint(f)}
}

// For any file, the text has lines of bounded length without control characters, and the
// JSON has a line for each finding and change.
func FuzzReports(f *testing.F) {
	f.Add("User-agent: *\nDisallow: private\x1b[2J\nSitemap: /x", "Disallow: /\n")
	f.Add("\xef\xbb\xbf Disalow /\xff\xfe 日本\rUser-agent:\x00", "User-agent: a\nAllow: *\u202e")
	f.Fuzz(func(t *testing.T, text, other string) {
		d := document(text)
		changes := diff.Compare(d.File, robots.Parse([]byte(other))).Changes
		var b bytes.Buffer
		if err := errors.Join(Text(&b, d, false), Changes(&b, changes, true, false)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(line) {
				t.Fatalf("not printable: %q", line)
			}
			if rest, ok := strings.CutPrefix(line, "       | "); ok && strings.TrimLeft(rest, " ^") == "" && len(rest) > 4*maxColumns {
				t.Fatalf("a mark of %d columns", len(rest))
			}
		}
		b.Reset()
		if err := errors.Join(JSON(&b, d), cli.WriteLines(&b, changes)); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(b.Bytes(), []byte("\n")); n != len(d.Findings)+len(changes) {
			t.Fatalf("%d lines of JSON for %d findings and %d changes", n, len(d.Findings), len(changes))
		}
	})
}

// Colours only add escape sequences.
func TestColour(t *testing.T) {
	d := document("User-agent: *\nDisallow: private\nDisallow: /é\nCrawl-delay: soon\n")
	var plain, painted bytes.Buffer
	if err := errors.Join(Text(&plain, d, false), Text(&painted, d, true)); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(plain.String(), '\x1b') {
		t.Error("escape sequences without colour")
	}
	for _, want := range []string{"\x1b[1;31merror\x1b[0m", "\x1b[1;33mwarning\x1b[0m", "\x1b[36minfo\x1b[0m", "^^^^^^^\x1b[0m"} {
		if !strings.Contains(painted.String(), want) {
			t.Errorf("no %q in\n%q", want, painted.String())
		}
	}
	text := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted.String(), "")
	if text != plain.String() {
		t.Errorf("without its colours\n%s\nis not\n%s", text, plain.String())
	}
}
