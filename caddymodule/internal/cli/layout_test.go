package cli

import (
	"strings"
	"testing"
)

// Tables are aligned. One without other lines than its first is left out, and so are, if
// asked for, columns without a value.
func TestLayout(t *testing.T) {
	const text = "before the table\n{{head}}name\t>count\ttext\t>refused\n{{range .}}{{.}}\t{{len .}}\t{{.}}\t0\n{{end}}{{head}}x\ty\nafter\n"
	for narrow, want := range map[bool]string{
		false: "before the table\n  name   count  text   refused\n  ééééé     10  ééééé        0\n  b          1  b            0\nafter\n",
		true:  "before the table\n  name   count  text\n  ééééé     10  ééééé\n  b          1  b\nafter\n",
	} {
		var out strings.Builder
		if err := (Layout{Indent: "  ", Narrow: narrow}).Execute(&out, text, nil, []string{strings.Repeat("é", 5), "b"}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("narrow %v:\n%s\nwant\n%s", narrow, out.String(), want)
		}
	}
}

// Colours take no room, and a number in an alarm column is bad unless it is 0.
func TestLayoutWithColours(t *testing.T) {
	var out strings.Builder
	if err := (Layout{Paint: true}).Execute(&out, "{{bad}}a line in red{{off}}\n{{head}}name\t!>n\n{{range .}}x\t{{.}}\n{{end}}", nil, []string{"0", "-", "17"}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1;31ma line in red\x1b[0m\nname   n\nx      \x1b[1;32m0\x1b[0m\nx      -\nx     \x1b[1;31m17\x1b[0m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
