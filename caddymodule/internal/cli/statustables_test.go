package cli

import (
	"bufio"
	"strings"
	"testing"
)

// On a terminal, cells are cut at maxCell characters, except those of the last
// column. Elsewhere nothing is cut.
func TestStatusTablesCutOnTerminalOnly(t *testing.T) {
	long := strings.Repeat("é", maxCell+1)
	for _, onTerminal := range []bool{false, true} {
		var out strings.Builder
		tables := statusTables{Writer: bufio.NewWriter(&out), shorten: onTerminal}
		tables.table("title", "A\tB", [][]any{{long, long}})
		if err := tables.Flush(); err != nil {
			t.Fatal(err)
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
