package cli

import (
	"strings"
	"testing"
)

// On a terminal, cells are cut at maxCell characters, except those of the last
// column. Elsewhere nothing is cut.
func TestStatusTablesCutOnTerminalOnly(t *testing.T) {
	long := strings.Repeat("é", maxCell+1)
	for _, onTerminal := range []bool{false, true} {
		var out strings.Builder
		tables := statusTables{w: &out, shorten: onTerminal}
		tables.table("title", "A\tB", 1, func(int) []any { return []any{long, long} })
		if tables.err != nil {
			t.Fatal(tables.err)
		}
		want := long
		if onTerminal {
			want = strings.Repeat("é", maxCell-1) + "…"
		}
		if !strings.HasSuffix(out.String(), "\n"+want+"  "+long+"\n") {
			t.Errorf("on a terminal %t:\n%s", onTerminal, out.String())
		}
	}
}
