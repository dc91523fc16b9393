package robots

import (
	"fmt"
	"math/rand/v2"
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

// rulesText returns a file of n rules. Their paths share folders, as in real
// files; wild of the rules have a `*`.
func rulesText(n, wild int) string {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	words := strings.Fields("shop cart user login search tag author archive feed print private admin api static " +
		"product category review checkout account media gallery video download forum topic thread")
	word := func() string { return words[rnd.IntN(len(words))] }
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		switch {
		case i < wild && i%2 == 0:
			fmt.Fprintf(&b, "Disallow: /*?%s%d=\n", word(), i)
		case i < wild:
			fmt.Fprintf(&b, "Disallow: /*/%s-%d/*.html$\n", word(), i)
		default:
			fmt.Fprintf(&b, "Disallow: /%s/%s-%d/%s\n", word(), word(), i, word())
		}
	}
	return b.String()
}
