package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// newSet returns the list of rules of a file with these rules alone.
func newSet(rules []Rule) *ruleset {
	f, lines := &File{}, []ruleLine(nil)
	for i, r := range rules {
		flags := uint32(0)
		if r.Allow {
			flags = allowLine
		}
		lines = append(lines, newRuleLine(len(f.text), r.Pattern, i+1, flags))
		f.text += r.Pattern
	}
	return newRuleset(f, lines)
}

func (g *Group) decidedBy(s *subject) Rule {
	d := decide(g.rules, s, false)
	return d.verdict().Rule()
}

// naive is a matcher that compares each rule with the target.
type naive struct {
	rules    []Rule
	patterns []*pattern.Pattern // nil for rules that match nothing
}

func newNaive(rules []Rule) naive {
	n := naive{rules, make([]*pattern.Pattern, len(rules))}
	for i := range rules {
		if p, ok := pattern.Compile(rules[i].Pattern, pattern.RFC9309, false); ok {
			n.patterns[i] = &p
		}
	}
	return n
}

// decidedBy returns the rule that decides.
func (n naive) decidedBy(s *subject) (best Rule) {
	top := uint32(0)
	for i, p := range n.patterns {
		if p == nil {
			continue
		}
		text := s.literal
		if p.Query {
			text = s.target
		}
		if r := rank(RFC9309, p.Octets, i, n.rules[i].Allow); r > top && p.Matches(text) {
			best, top = n.rules[i], r
		}
	}
	return best
}

// With thousands of rules, so that rules with wildcards are in the index, the
// matcher finds the same rule as naive.
func TestMatchManyRules(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, 1+rnd.IntN(n))
		for i := range b {
			b[i] = "abcd"[rnd.IntN(4)]
		}
		return string(b)
	}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for range 3000 {
		b.WriteString([]string{"Allow: ", "Disallow: "}[rnd.IntN(2)])
		for range 1 + rnd.IntN(3) {
			b.WriteString([]string{"/", "/*", "/*/", "/?", "*"}[rnd.IntN(5)] + word(6))
		}
		b.WriteString([]string{"", "$", "*"}[rnd.IntN(3)] + "\n")
	}
	g := Parse([]byte(b.String())).Star()
	if w := g.rules[0].matcher().wildRules; w == nil || w.index == nil {
		t.Fatal("the matcher has no index")
	}
	decided, slow := map[Rule]bool{}, newNaive(g.Rules())
	for range 2000 {
		target := "/" + word(8) + "/" + word(8) + []string{"", "/" + word(9), "?" + word(5), "%2F" + word(3), "?a=%2F" + word(3)}[rnd.IntN(5)]
		var v Views
		v.Reset(target, ViewOptions{})
		got, want := g.decidedBy(&v.requested), slow.decidedBy(&v.requested)
		if got != want && (got.Allow != want.Allow || len(got.Pattern) != len(want.Pattern)) {
			t.Fatalf("%q: %v, want %v", target, got, want)
		}
		decided[got] = true
	}
	if len(decided) < 200 {
		t.Errorf("only %d rules decided", len(decided))
	}
}

// Fragments that contain each other or overlap are found at their first occurrences.
func TestMatchNestedFragments(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	word := func(from, n int, alphabet string) string {
		b := make([]byte, from+rnd.IntN(n))
		for i := range b {
			b[i] = alphabet[rnd.IntN(len(alphabet))]
		}
		return string(b)
	}
	for range 200 {
		alphabet := "abcd"[:2+rnd.IntN(3)]
		var rules []Rule
		for range 6 + rnd.IntN(12) {
			p := "/"
			for range 1 + rnd.IntN(4) {
				p += "*" + word(1, 3, alphabet)
			}
			rules = append(rules, Rule{Pattern: p + []string{"", "", "$"}[rnd.IntN(3)], Allow: rnd.IntN(2) == 0})
		}
		set := newSet(rules)
		for range 40 {
			checkRank(t, set, "/"+word(0, 16, alphabet+"x"))
		}
	}
}

// checkRank compares the rank of the rule that decides on a target with the
// rank of the rule that naive returns.
func checkRank(t *testing.T, set *ruleset, target string) {
	t.Helper()
	s := subject{target, target}
	got, want := set.matcher().match(&s).rank, uint32(0)
	rules := rulesOf([]*ruleset{set})
	if r := newNaive(rules).decidedBy(&s); r.Line > 0 {
		want = rankOf(r)
	}
	if got != want {
		t.Fatalf("%q: rank %d, want %d of %v", target, got, want, rules)
	}
	if got := indexRank(rules, &s); got != want {
		t.Fatalf("%q: rank %d with an index, want %d of %v", target, got, want, rules)
	}
}

// indexRank returns the rank of the rule that decides on a target. The rules with a `*` are in
// an index.
func indexRank(rules []Rule, s *subject) uint32 {
	var best winner
	var wilds []wildPattern
	for i, r := range rules {
		p, ok := pattern.Compile(r.Pattern, pattern.RFC9309, false)
		w := winner{rank(RFC9309, p.Octets, i, r.Allow), int32(i)}
		if ok && p.Wild {
			wilds = append(wilds, wildPattern{w, p})
		} else if ok && p.Matches(s.form(p.Query)) {
			best = w.over(best)
		}
	}
	if len(wilds) == 0 {
		return best.rank
	}
	return newWildIndex(wilds).match(s, best).rank
}

// rankOf returns the rank of a rule.
func rankOf(r Rule) uint32 {
	p, _ := pattern.Compile(r.Pattern, pattern.RFC9309, false)
	return rank(RFC9309, p.Octets, 0, r.Allow)
}

// The size of a matcher is proportional to the size of the file.
func TestMatcherSize(t *testing.T) {
	prefixes, wildcards := []Rule{}, []Rule{}
	for i := range 900 {
		prefixes = append(prefixes, Rule{Pattern: "/" + strings.Repeat("a", i) + "*b"})
		wildcards = append(wildcards, Rule{Pattern: fmt.Sprintf("/*%d*%d$", i, i*7)})
	}
	for name, rules := range map[string][]Rule{"prefixes": prefixes, "wildcards": wildcards} {
		m := newSet(rules).matcher()
		if n := len(m.nodes); n > 2*len(rules)+1 {
			t.Errorf("%s: %d nodes for %d rules", name, n, len(rules))
		}
		listed := 0
		if m.wildRules != nil && m.index != nil {
			listed = len(m.index.rules)
			size := 0
			for i := 0; i < len(m.index.slots); i += 2 { // two of each fragment
				size += int(m.index.slots[i].size)
			}
			if n := len(m.index.nodes) - 1; n > size+1 {
				t.Errorf("%s: %d nodes for fragments of %d octets", name, n, size)
			}
		}
		if listed != len(rules) {
			t.Errorf("%s: %d rules with a wildcard, want %d", name, listed, len(rules))
		}
	}
}

// For the hostile families, the matcher finds the same rule as naive, on the
// paths of the families and on variants of them.
func TestMatchHostileFamilies(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, h := range hostileFamilies {
		t.Run(h.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("User-agent: *\n")
			for i := range 250 {
				r := h.rule(i * 7)
				if r == "" {
					r = h.rule(i % 60)
				}
				if rnd.IntN(3) == 0 {
					r = strings.Replace(r, "Disallow", "Allow", 1)
				}
				b.WriteString(r + []string{"", "", "$", "*a$"}[rnd.IntN(4)] + "\n")
			}
			g := Parse([]byte(b.String())).Star()
			rules := g.Rules()
			slow := newNaive(rules)
			for i := range 24 {
				target := h.path(40 + 5*i)
				if i%2 == 1 {
					r := rules[rnd.IntN(len(rules))].Pattern
					cut := rnd.IntN(len(target))
					target = target[:cut] + strings.NewReplacer("*", target[cut/2:cut], "$", "").Replace(r[1:]) + target[cut:]
				}
				if !strings.HasPrefix(target, "/") {
					target = "/" + target
				}
				var v Views
				v.Reset(target, ViewOptions{})
				got, want := g.decidedBy(&v.requested), slow.decidedBy(&v.requested)
				if got != want && (got.Allow != want.Allow || len(got.Pattern) != len(want.Pattern)) {
					t.Fatalf("%q: %v, want %v", target, got, want)
				}
			}
		})
	}
}

// FuzzMatchNested has rules and targets of few different octets, so that the
// fragments contain each other and overlap.
func FuzzMatchNested(f *testing.F) {
	f.Add("ba*c\n*a*b\n*ab*a$\n*bb*a\n*a\n*aab*b$\n", "bacab")
	f.Add("a*a*a\n*aa*a\n*aaa\n*aaaa*a\n*aa*aa$\n", "aaaab")
	f.Add("*a*b*c\n*a*b*a\n*a*b*b$\n*a*bc\n*c*ab*a*b\n*b*b*b\n", "abcabcab")
	f.Fuzz(func(t *testing.T, patterns, target string) {
		if len(patterns) > 400 || len(target) > 80 {
			return
		}
		small := func(alphabet string) func(r rune) rune {
			return func(r rune) rune {
				if r == '\n' || strings.ContainsRune(alphabet, r) {
					return r
				}
				return rune(alphabet[int(uint32(r))%len(alphabet)])
			}
		}
		var rules []Rule
		for i, p := range strings.Split(strings.Map(small("abc*$/"), patterns), "\n") {
			rules = append(rules, Rule{Pattern: "/" + p, Allow: i%3 == 0})
		}
		checkRank(t, newSet(rules), "/"+strings.ReplaceAll(strings.Map(small("abcx/"), target), "\n", "/"))
	})
}
