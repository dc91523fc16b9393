package robots

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// hostileFamily makes a file of rules with `*` that some implementation matched
// slowly, and the slowest path for them. The path has n octets and many of the
// fragments of the rules, but few of the rules match it.
type hostileFamily struct {
	name string
	rule func(i int) string // "" for no more
	path func(n int) string
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789~!@,:_-'"

// fill returns a path of n octets from a sequence of texts.
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
	{"many before one", func(i int) string {
		if p := pairOf(i); p != "" {
			return "Disallow: /*" + p + "*aaa"
		}
		return ""
	}, func(n int) string { return "/aaa" + fill(n-4, func(i int) string { return pairOf(i * 7 % 4000) }) }},
	{"sequences that fail late", func(i int) string {
		if i >= 4000 {
			return ""
		}
		rnd := rand.New(rand.NewPCG(9, uint64(i)))
		var b strings.Builder
		for range 45 {
			b.WriteString([]string{"*a", "*b"}[rnd.IntN(2)])
		}
		return "Disallow: /" + b.String() + "*c*d"
	}, func(n int) string {
		return "/" + strings.Repeat("ab", min(28, n/2-2)) + strings.Repeat("x", max(0, n-59)) + "cd"
	}},
	{"letters before words", func(i int) string {
		if i >= 28000 {
			return ""
		}
		rnd := rand.New(rand.NewPCG(10, uint64(i)))
		letter := func(from, to int) string { return letters[from+rnd.IntN(to-from):][:1] }
		return "Disallow: /*" + letter(0, 40) + "*" + letter(40, 69) + letter(40, 69) + letter(40, 69)
	}, func(n int) string {
		rnd := rand.New(rand.NewPCG(11, uint64(n)))
		return "/" + fill(max(1, n-41), func(int) string { return letters[40+rnd.IntN(29):][:1] })[1:] + letters[:40]
	}},
	{"sequences that match", func(i int) string {
		rnd := rand.New(rand.NewPCG(14, uint64(i)))
		var b strings.Builder
		for range 8 + rnd.IntN(40) {
			b.WriteString([]string{"*a", "*b"}[rnd.IntN(2)])
		}
		return "Disallow: /" + b.String() + "*c"
	}, func(n int) string { return "/" + strings.Repeat("ab", n/2-1) + "c" }},
	{"far apart", func(i int) string {
		if p := pairOf(i); p != "" {
			return "Disallow: /*" + p + "*zzzzzzzB*zzzzzzzC*zzzzzzzD"
		}
		return ""
	}, func(n int) string {
		return fill(n, func(i int) string {
			if i%40 == 0 {
				return "zzzzzzzB"
			}
			return "zz" + pairOf(i*7%4000)
		}) + "zzzzzzzD"
	}},
	{"waiting below fragments in each other", func(i int) string {
		switch {
		case i < 690:
			return "Allow: /*" + strings.Repeat("a", i+1)
		case i < 4690:
			return fmt.Sprintf("Disallow: /%s*b", strings.Repeat("*a", i%40))
		}
		return ""
	}, func(n int) string { return "/" + strings.Repeat("a", n-1) }},
	{"six letters", func(i int) string {
		rnd := rand.New(rand.NewPCG(15, uint64(i)))
		s := "Disallow: /"
		for range 6 {
			s += "*" + letters[rnd.IntN(len(letters)):][:1]
		}
		return s + "*|"
	}, func(n int) string { return fill(n-1, func(int) string { return letters }) + "|" }},
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

// BenchmarkMatchHostile matches several paths of each family in turn, so that
// the branch prediction of the processor can't adapt to one path. Besides the
// mean time, it reports the time of the fastest round of all paths, which other
// processes on the machine influence less.
func BenchmarkMatchHostile(b *testing.B) {
	for _, h := range hostileFamilies {
		g := Parse([]byte(h.text())).Star()
		for _, n := range []int{100, 4096} {
			var targets [8]string
			for i := range targets {
				targets[i] = h.path(n - i)
			}
			b.Run(fmt.Sprintf("%s/rules=%d/octets=%d", h.name, len(g.Rules()), n), func(b *testing.B) {
				var v Views
				b.ReportAllocs()
				i, round, fastest := 0, time.Now(), time.Duration(math.MaxInt64)
				for b.Loop() {
					v.Reset(targets[i&7], ViewOptions{})
					g.MatchViews(&v)
					if i++; i&7 == 0 {
						now := time.Now()
						fastest, round = min(fastest, now.Sub(round)), now
					}
				}
				if i >= len(targets) {
					b.ReportMetric(float64(fastest)/float64(len(targets)), "fastest-ns/op")
				}
			})
		}
	}
}
