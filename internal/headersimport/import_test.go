package headersimport

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		got := text(Import(config))
		golden := strings.TrimSuffix(file, ".conf") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
	}
}

// text returns the result of Import as text.
func text(im Result) string {
	var b strings.Builder
	for _, e := range im.Entries {
		fmt.Fprintln(&b, e)
	}
	for _, s := range im.Sites {
		fmt.Fprintf(&b, "site of line %d %q\n", s.Line, s.Names)
		for _, e := range s.Entries {
			if e.Comment == "" {
				fmt.Fprintf(&b, "%d: ", e.Line)
			} else if e.Missing {
				b.WriteString("! ")
			}
			fmt.Fprintln(&b, e)
		}
		for _, line := range s.Policy {
			fmt.Fprintf(&b, "policy: %s\n", line)
		}
	}
	return b.String()
}
