package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// rulesText is a file of n rules whose paths share folders, as real ones do,
// of which wild have a `*`.
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

// targets are of about 40 octets: half of them match a rule.
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

// hostileFamily is a file of rules with `*` that were slow to match in one
// implementation or another, and the path on which they are slowest: of as many
// octets as asked for, with many of the fragments, matched by few of the rules.
type hostileFamily struct {
	name string
	rule func(i int) string // "" for no more
	path func(n int) string
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~!@,:_-'"

// fill repeats texts up to n octets.
func fill(n int, text func(i int) string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; b.Len() < n; i++ {
		b.WriteString(text(i))
	}
	return b.String()[:n]
}

func pairOf(i int) string {
	n := len(letters)
	if i >= n*n {
		return ""
	}
	return string(letters[i/n]) + string(letters[i%n])
}

var hostileFamilies = []hostileFamily{
	{"one after another shared", func(i int) string {
		if i >= 500 {
			return ""
		}
		return "Disallow: /*.php?*" + pairOf(i) + "="
	}, func(n int) string { return fill(n-5, func(i int) string { return pairOf(i%500) + "=" }) + ".php?" }},
	{"many after one", func(i int) string {
		if p := pairOf(i); p != "" {
			return "Disallow: /*aaa*" + p
		}
		return ""
	}, func(n int) string { return fill(n-3, func(i int) string { return pairOf(i * 7 % 4000) }) + "aaa" }},
	{"many at the end after one", func(i int) string {
		if p := pairOf(i); p != "" {
			return "Disallow: /*aaa*" + p + "$"
		}
		return ""
	}, func(n int) string { return "/aaa" + fill(n-4, func(i int) string { return pairOf(i * 7 % 4000) }) }},
	{"pairs in the wrong order", func(i int) string {
		x, y := i/len(letters), i%len(letters)
		switch {
		case x >= len(letters):
			return ""
		case x <= y:
			return "Allow: /robots"
		}
		return fmt.Sprintf("Disallow: /*%c*%c", letters[x], letters[y])
	}, func(n int) string {
		return fill(n, func(i int) string { return string(letters[min(len(letters)-1, i*len(letters)/n)]) })
	}},
	{"fragments in each other", func(i int) string {
		if i >= 900 {
			return ""
		}
		return "Disallow: /*" + strings.Repeat("a", i+1) + "*" + strings.Repeat("b", 100-i%100)
	}, func(n int) string { return "/" + strings.Repeat("b", n/3) + strings.Repeat("a", n-n/3-1) }},
	{"prefixes of each other", func(i int) string {
		if i >= 700 {
			return ""
		}
		return "Disallow: /" + strings.Repeat("a", i) + "*b" + strings.Repeat("c", i%7)
	}, func(n int) string { return "/" + strings.Repeat("a", n-1) }},
	{"long sequences", func(i int) string {
		if i >= 120 {
			return ""
		}
		return "Disallow: /" + strings.Repeat("*a", 1+i) + strings.Repeat("*b", 120-i) + "*c"
	}, func(n int) string { return "/c" + strings.Repeat("ab", n/2-1) }},
	{"random sequences", func(i int) string {
		if i >= 4000 {
			return ""
		}
		rnd := rand.New(rand.NewPCG(7, uint64(i)))
		var b strings.Builder
		for range 30 {
			b.WriteString([]string{"*a", "*b"}[rnd.IntN(2)])
		}
		return "Disallow: /" + b.String() + "*c*d"
	}, func(n int) string { return "/cd" + strings.Repeat("ab", n/2-2) + "d" }},
	{"random pairs of words", func(i int) string {
		if i >= 20000 {
			return ""
		}
		rnd := rand.New(rand.NewPCG(8, uint64(i)))
		word := func() string { return pairOf(rnd.IntN(600))[:1] + pairOf(rnd.IntN(600)) }
		return "Disallow: /*" + word() + "*" + word()
	}, func(n int) string {
		return fill(n, func(i int) string { return pairOf(i * 13 % 600)[:1] + pairOf(i*29%600) })
	}},
	{"backtracking", func(i int) string {
		if i >= 60 {
			return ""
		}
		return "Disallow: /" + strings.Repeat("*a", 60-i%8) + "b" + strings.Repeat("c", i)
	}, func(n int) string { return "/" + strings.Repeat("a", n-1) }},
}

func (h *hostileFamily) text() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; b.Len() < MaxSize-1000; i++ {
		r := h.rule(i)
		if r == "" {
			break
		}
		b.WriteString(r + "\n")
	}
	return b.String()
}

func BenchmarkMatchHostile(b *testing.B) {
	for _, h := range hostileFamilies {
		g := Parse([]byte(h.text())).Star()
		for _, n := range []int{100, 4096} {
			target := h.path(n)
			b.Run(fmt.Sprintf("%s/rules=%d/octets=%d", h.name, len(g.Rules()), len(target)), func(b *testing.B) {
				var v Views
				b.ReportAllocs()
				for b.Loop() {
					v.Reset(target, ViewOptions{})
					g.MatchViews(&v)
				}
			})
		}
	}
}

func BenchmarkMatchDisguised(b *testing.B) {
	g := Parse([]byte(rulesText(450, 45))).Star()
	var v Views
	b.ReportAllocs()
	for b.Loop() {
		v.Reset("/a/..%2fprivate//%61dmin-1/./x.html?a=%3A", ViewOptions{})
		g.MatchViews(&v)
	}
}

func BenchmarkNamed(b *testing.B) {
	f := Parse([]byte("User-agent: Googlebot\nDisallow:\n\nUser-agent: GPTBot\nDisallow: /\n"))
	b.ReportAllocs()
	for b.Loop() {
		f.Named("gptbot")
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{20, 450, 5000} {
		text := []byte(rulesText(n, n/10))
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(text)
			}
		})
	}
}
