package robots

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A short list is compiled by the first of the matches that need it. A long one is compiled
// at once.
func TestListsAreCompiledWhenUsed(t *testing.T) {
	var text strings.Builder
	text.WriteString("User-agent: a\nUser-agent: b\nDisallow: /a/b\n\nUser-agent: b\n")
	for i := range maxLater + 1 {
		fmt.Fprintf(&text, "Disallow: /%d/shop/*?sort=\n", i*7)
	}
	text.WriteString("\nUser-agent: c\n" + strings.Repeat("Disallow: /"+strings.Repeat("x", 1000)+"\n", maxLaterSize/1000))
	text.WriteString("\nUser-agent: *\n")
	for i := range maxLater {
		fmt.Fprintf(&text, "Disallow: /%d/shop/\n", i*7)
	}
	f := Parse([]byte(text.String()))
	star := f.Star().rules[0]
	if star.first.Load() != nil || f.Named("b").rules[1].first.Load() == nil || f.Named("c").rules[0].first.Load() == nil {
		t.Fatal("a short list is compiled before it is used, or a long one is not")
	}
	var matches sync.WaitGroup
	for range 8 {
		matches.Go(func() {
			if v := f.Star().Match("/7/shop/x"); v.Allowed || v.Rule().Pattern != "/7/shop/" {
				t.Errorf("%+v", v)
			}
		})
	}
	matches.Wait()
}
