package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots"
)

// hostileText returns half a megabyte of rules that are slow to compare.
func hostileText(letter byte) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < robots.MaxSize-100; i++ {
		fmt.Fprintf(&b, "%s: /*%s*%c%d\n", []string{"Allow", "Disallow"}[i&1], strings.Repeat(string(letter), 1+i%40), 'a'+i%26, i%1000)
	}
	return b.String()
}

func largeText(n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		fmt.Fprintf(&b, "Disallow: /shop/category-%d/\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&b, "Disallow: /*?sort%d=\n", i)
		}
	}
	return b.String()
}

func BenchmarkCompare(b *testing.B) {
	for name, texts := range map[string][2]string{
		"one of 450":  {largeText(450), largeText(451)},
		"one of 5000": {largeText(5000), largeText(5001)},
		"hostile":     {hostileText('x'), hostileText('y')},
	} {
		x, y := parse(texts[0]), parse(texts[1])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Compare(x, y)
			}
		})
	}
}
