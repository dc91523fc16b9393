package report

import (
	"strings"
	"testing"
)

// Cells are cut at Layout.Cell columns, except the last one of a line. A table
// without other lines than its first is left out.
func TestLayout(t *testing.T) {
	const text = "before\n{{head}}a\t>bb\tc\n{{range .}}{{.}}\t{{len .}}\t{{.}}\n{{end}}{{head}}x\ty\nafter\n"
	for cell, want := range map[int]string{
		0: "before\n  a      bb  c\n  ééééé  10  ééééé\n  b       1  b\nafter\n",
		4: "before\n  a     bb  c\n  ééé…  10  ééééé\n  b      1  b\nafter\n",
	} {
		var out strings.Builder
		if err := (Layout{Indent: "  ", Cell: cell}).Execute(&out, text, nil, []string{"ééééé", "b"}); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d:\n%s\nwant\n%s", cell, out.String(), want)
		}
	}
}
