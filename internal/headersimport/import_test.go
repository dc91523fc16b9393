package headersimport

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/headers"
)

var update = flag.Bool("update", false, "write the golden files")

// TestImport compares the rules and the problems of configurations with golden
// files.
func TestImport(t *testing.T) {
	files, err := filepath.Glob("../../testdata/headers/import/*.conf")
	if err != nil || len(files) < 2 {
		t.Fatalf("found %d configurations (%v), want two or more", len(files), err)
	}
	for _, file := range files {
		config, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		im := Import(config)
		for _, s := range im.Sites {
			fmt.Fprintf(&got, "site of line %d %q\n", s.Line, s.Names)
			for _, r := range s.Rules {
				fmt.Fprintf(&got, "%d: x_robots_tag %v\n", r.Line, r.Rule)
			}
			for _, p := range s.Problems {
				fmt.Fprintln(&got, p)
			}
			got.WriteString("\n")
		}
		for _, p := range im.Problems {
			fmt.Fprintln(&got, p)
		}
		golden := strings.TrimSuffix(file, ".conf") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got.String(), want)
		}
	}
}

// TestImportFilesSection converts the example in Google's documentation, which
// many sites use.
func TestImportFilesSection(t *testing.T) {
	im := Import([]byte("<Files ~ \"\\.pdf$\">\n  Header set X-Robots-Tag \"noindex, nofollow\"\n</Files>\n"))
	if len(im.Sites) != 1 || len(im.Sites[0].Rules) != 1 || im.Sites[0].Rules[0].Line != 2 || len(im.AllProblems()) != 0 ||
		im.Sites[0].Rules[0].Rule.String() != `~ \.pdf$ noindex, nofollow` {
		t.Errorf("got %+v", im)
	}
}

// Apache requires that each tag of a section is on a line of its own.
func TestImportTagsOnOneLine(t *testing.T) {
	const files = "the tags <Files> and </Files> must be on lines of their own"
	for config, want := range map[string][]string{
		`<Files "*.pdf"> Header set X-Robots-Tag noindex </Files>`:                              {"line 1: " + files},
		`<files "*.pdf">Header set X-Robots-Tag noindex</Files>`:                                {"line 1: " + "the tags <files>"},
		"<Files \"*.pdf\"> Header set X-Robots-Tag noindex\n</Files>":                           {"line 1: " + files},
		"<Files \"*.pdf\">\nHeader set X-Robots-Tag noindex </Files>":                           {"line 2: " + files},
		"<VirtualHost *>\n<Files a> Header set X-Robots-Tag none </Files>\n</VirtualHost>":      {"line 2: " + files},
		"<Files *.a></Files>\n<Files *.b>\nHeader set X-Robots-Tag noindex\n</Files>":           {"line 1: " + files},
		"<Files *.a>\n<If \"x\"> Header set X-Robots-Tag none </If>\n</Files>":                  {"line 2: the tags <If>"},
		"<FilesMatch \"(?<ext>pdf)$\">\nHeader set X-Robots-Tag noindex\n</FilesMatch>":         nil,
		"<IfModule mod_headers.c>\n<Files a>\nHeader set X-Robots-Tag a\n</Files>\n</IfModule>": {"line 3: "},
	} {
		im := Import([]byte(config))
		problems := im.AllProblems()
		if len(problems) != len(want) {
			t.Errorf("%s: %v", config, problems)
			continue
		}
		for i, p := range problems {
			if text := strings.Replace(p.String(), "not converted: ", "", 1); !strings.HasPrefix(text, want[i]) {
				t.Errorf("%s: %s, want %s", config, p, want[i])
			}
		}
	}
}

// words splits a line into words, as a Caddyfile does for words with and
// without backquotes.
func words(line string) []string {
	var all []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] == '`' {
			end := strings.IndexByte(line[1:], '`') + 1
			all, line = append(all, line[1:end]), line[end+1:]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		all, line = append(all, word), rest
	}
	return all
}

// FuzzImport checks that each rule is valid, and that ParseSetting reads it back
// from its text.
func FuzzImport(f *testing.F) {
	for _, file := range []string{"apache.conf", "nginx.conf"} {
		if config, err := os.ReadFile("../../testdata/headers/import/" + file); err == nil {
			f.Add(config)
		}
	}
	f.Add([]byte("<Files \"a b\">\nHeader set X-Robots-Tag none\n"))
	f.Add([]byte("location \"/a b\" { add_header X-Robots-Tag none; }"))
	f.Fuzz(func(t *testing.T, config []byte) {
		im := Import(config)
		var rules []Rule
		for _, s := range im.Sites {
			rules = append(rules, s.Rules...)
		}
		lines := strings.Count(string(config), "\n") + 1
		for _, r := range rules {
			if err := r.Rule.Validate(); err != nil || r.Line < 1 || r.Line > lines {
				t.Errorf("line %d of %d, %v: %v", r.Line, lines, r.Rule, err)
			}
			if strings.ContainsAny(r.Rule.Pattern, "`\"") {
				continue // words does not support these quotes
			}
			again, err := headers.ParseSetting(words(r.Rule.String()))
			if again.Kind == "" && r.Rule.Kind == headers.KindName {
				again.Kind = headers.KindName
			}
			if err != nil || again != r.Rule {
				t.Errorf("%+v: String returns %s, which is parsed as %+v, %v", r.Rule, r.Rule, again, err)
			}
		}
		for _, p := range im.AllProblems() {
			if p.Line < 1 || p.Line > lines+1 || p.Text == "" {
				t.Errorf("problem %+v of a configuration with %d lines", p, lines)
			}
		}
	})
}
