package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

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

// benchTargets returns targets of about 40 octets. Half of them match a rule.
func benchTargets(g *Group) []string {
	var targets []string
	rules := g.Rules()
	rnd := rand.New(rand.NewPCG(2, 2))
	for range 16 {
		r := rules[rnd.IntN(len(rules))].Pattern
		hit := strings.NewReplacer("*", "some/where", "$", "").Replace(r) + "/index.html?page=2"
		targets = append(targets, hit, "/product/category-shoes/running-42.html?s=1")
	}
	return targets
}

func BenchmarkMatch(b *testing.B) {
	for _, tt := range []struct{ rules, wild int }{
		{20, 0}, {450, 0}, {5000, 0}, {50000, 0}, {5000, 500}, {450, 45},
	} {
		name := fmt.Sprintf("rules=%d", tt.rules)
		if tt.wild > 0 {
			name += fmt.Sprintf("/wildcards=%d", tt.wild)
		}
		b.Run(name, func(b *testing.B) {
			g := Parse([]byte(rulesText(tt.rules, tt.wild)), WithMaxSize(8<<20)).Star()
			targets := benchTargets(g)
			var v Views
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				v.Reset(targets[i&31], ViewOptions{})
				g.MatchViews(&v)
				i++
			}
		})
	}
}
