package output

import (
	"strings"
	"testing"
)

// On a narrow terminal, texts are cut, columns with a digit are left out, and other
// lines are wrapped. A table without other lines than its first is left out.
func TestLayout(t *testing.T) {
	const text = "before the table\n{{head}}name\t2>count\t=text\t1other\n{{range .}}{{.}}\t{{len .}}\t{{.}}\t{{.}}{{.}}\n{{end}}{{head}}x\ty\nafter\n"
	for width, want := range map[int]string{
		0:  "before the table\n  name                  count  text                  other\n  éééééééééééééééééééé     40  éééééééééééééééééééé  éééééééééééééééééééééééééééééééééééééééé\n  b                         1  b                     bb\nafter\n",
		80: "before the table\n  name                  count  text                  other\n  éééééééééééééééééééé     40  éééééééééééééééééééé  éééééééééééééééééééééééééé…\n  b                         1  b                     bb\nafter\n",
		60: "before the table\n  name               text                  other\n  éééééééééééééééé…  éééééééééééééééééééé  éééééééééééééééé…\n  b                  b                     bb\nafter\n\nThis terminal is too narrow for these columns: count.\n",
		44: "before the table\n  name                  text\n  éééééééééééééééééééé  éééééééééééééééééééé\n  b                     b\nafter\n\nThis terminal is too narrow for these\n    columns: count, other.\n",
		30: "before the table\n  name      text\n  ééééééé…  éééééééééééééééééééé\n  b         b\nafter\n\nThis terminal is too narrow\n    for these columns: count,\n    other.\n",
		12: "before the\n    table\n  name      text\n  ééééééé…  éééééééééééééééééééé\n  b         b\nafter\n\nThis\n    terminal\n    is too\n    narrow\n    for\n    these\n    columns:\n    count,\n    other.\n",
	} {
		var out strings.Builder
		if err := (Layout{Indent: "  ", Width: width}).Execute(&out, text, nil, []string{strings.Repeat("é", 20), "b"}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d:\n%s\nwant\n%s", width, out.String(), want)
		}
	}
}

// On a narrow terminal, columns without a value are left out first, and are not named.
func TestLayoutWithoutValues(t *testing.T) {
	const text = "{{head}}site\t7>passed\t2>throttled\t!>refused\n{{range .}}{{.}}\n{{end}}"
	for width, want := range map[int]string{
		0:  "site  passed  throttled  refused\na          0          1        -\nb          -          0        0\n",
		32: "site  passed  throttled  refused\na          0          1        -\nb          -          0        0\n",
		31: "site  passed  throttled\na          0          1\nb          -          0\n",
		22: "site  throttled\na             1\nb             0\n",
		14: "site\na\nb\n\nThis\n    terminal\n    is too\n    narrow for\n    these\n    columns:\n    throttled.\n",
	} {
		var out strings.Builder
		if err := (Layout{Width: width}).Execute(&out, text, nil, []string{"a\t0\t1\t-", "b\t-\t0\t0"}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d:\n%s\nwant\n%s", width, out.String(), want)
		}
	}
}

// Colours take no room, and a number in an alarm column is bad unless it is 0.
func TestLayoutWithColours(t *testing.T) {
	var out strings.Builder
	if err := (Layout{Paint: true, Width: 20}).Execute(&out, "{{bad}}a line in red{{off}} with more\n{{head}}name\t!>n\n{{range .}}x\t{{.}}\n{{end}}", nil, []string{"0", "-", "17"}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1;31ma line in red\x1b[0m with\n    more\nname   n\nx      \x1b[1;32m0\x1b[0m\nx      -\nx     \x1b[1;31m17\x1b[0m\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
