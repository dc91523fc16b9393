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

// plainText returns a file of n rules. A tenth of them have a wildcard.
func plainText(n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		star := ""
		if i%10 == 0 {
			star = "*"
		}
		fmt.Fprintf(&b, "Disallow: /folder%d/%s.html\n", i, star)
	}
	return b.String()
}

func BenchmarkLint(b *testing.B) {
	for name, text := range map[string]string{"rules=450": plainText(450), "rules=20000": plainText(20000), "hostile": hostileText()} {
		f := robots.Parse([]byte(text))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(f.Size()))
			for b.Loop() {
				Lint(f)
			}
		})
	}
}
