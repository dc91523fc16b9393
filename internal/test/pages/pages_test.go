package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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

func TestComments(t *testing.T) {
	folder := t.TempDir()
	const source = `package p

// T is a type.
//
// It has a field | and a method.
type T struct {
	// F is a field.
	//
	//	f 1 {
	//		g
	//	}
	F, G int
	H int // H has a comment beside it
}

// M is a method.
func (t *T) M() {}

// The constants.
const (
	// A comes first.
	A = 1
	B = 2 // B is beside it
)
`
	for name, text := range map[string]string{"a.go": source, "a_test.go": "package p\n\n// X is a test's.\nvar X int\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := Comments{}
	c.Read(t, folder)
	if c["T.G"] != c["T.F"] || c["T.M"] != "M is a method.\n" || c["T.H"] != "H has a comment beside it\n" || c["A"] != "A comes first.\n" || c["B"] != "B is beside it\n" || c["X"] != "" {
		t.Errorf("%q", c)
	}
	paragraphs, code := Prose(c["T.F"])
	if !reflect.DeepEqual(paragraphs, []string{"F is a field."}) || code != "f 1 {\n\tg\n}" {
		t.Errorf("%q, %q", paragraphs, code)
	}
	if got := Cell(c["T"]); got != `T is a type.<br>It has a field \| and a method.` {
		t.Errorf("%q", got)
	}
}
