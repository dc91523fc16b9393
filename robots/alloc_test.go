package robots

import (
	"strings"
	"testing"
)

// A match allocates nothing, also for Google's reading, for targets with
// escapes and dot segments, and for rules that are slow to match.
func TestMatchAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Log("nothing is measured: with the race detector, pools drop their elements at random")
		return
	}
	texts := map[string]string{
		"literal":  rulesText(450, 0),
		"wildcard": rulesText(450, 45),
		"few":      "User-agent: *\nDisallow: /*?a=\nAllow: /*/b$\n",
		"google":   "User-agent: *\nDisallow: /a b\nDisallow: /*%7Ea\nAllow: /a/index.html\n",
	}
	for i := range hostileFamilies {
		texts[hostileFamilies[i].name] = hostileFamilies[i].text()
	}
	for name, text := range texts {
		f := Parse([]byte(text))
		groups := []*Group{f.Star()}
		if g := f.GoogleReading(); g != nil {
			groups = append(groups, g.Star())
		}
		for _, g := range groups {
			targets := []string{"/", "/shop/cart-1/x.html?a=b", "/a/..%2fb//%61/./x.html?a=%2F", "/aaaa/ab.php?aa=&bb=ccccabc", "/" + strings.Repeat("%e3//a/../", 400)}
			var v Views
			match := func() {
				for _, target := range targets {
					v.Reset(target, ViewOptions{})
					g.MatchViews(&v)
					g.Match(target)
					f.Named("Googlebot")
				}
			}
			match()
			if n := testing.AllocsPerRun(20, match); n > 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}
