package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// hostileText returns half a megabyte of rules that are slow to compare with
// each other.
func hostileText() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < robots.MaxSize-100; i++ {
		fmt.Fprintf(&b, "%s: /*%s*%c%d\n", []string{"Allow", "Disallow"}[i&1], strings.Repeat("x", 1+i%40), 'a'+i%26, i%1000)
	}
	return b.String()
}

// A file that is slow to compare with itself ends the linter's comparisons at their limit.
func TestHostileFile(t *testing.T) {
	if findings := Lint(robots.Parse([]byte(hostileText()))); len(findings) == 0 {
		t.Error("no findings")
	}
}
