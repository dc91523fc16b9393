package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that notes its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const by = "# Title\n\n<!-- generated: a b -->\n%s<!-- end -->\n\nby hand\n"
	text := func(words []string) string { return strings.Join(words, "+") + "\n" }
	write(fmt.Sprintf(by, "old\n"))
	r := &recorder{TB: t}
	Check(r, page, false, text)
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "out of date") || !strings.HasSuffix(r.errors[0], ": a+b") {
		t.Errorf("an old page: %q", r.errors)
	}
	Check(t, page, true, text)
	Check(t, page, false, text)
	if got, _ := os.ReadFile(page); string(got) != fmt.Sprintf(by, "\na+b\n\n") {
		t.Errorf("the page is now\n%s", got)
	}
	write("# Title\n")
	r = &recorder{TB: t}
	Check(r, page, true, text)
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "no generated part") {
		t.Errorf("a page without generated parts: %q", r.errors)
	}
}
