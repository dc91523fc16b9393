package robots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// rank returns the rank of a rule: of the rules that match, the one with the
// highest rank decides. This is the rule with the most octets; if several have
// the same number, Allow decides (RFC 9309, section 2.2.2). In the older
// dialects, the first rule in the file decides. Ranks of Allow rules are odd.
func rank(d Dialect, octets, index int, allow bool) uint32 {
	if d.firstMatch() {
		octets = 1<<30 - index
	}
	r := uint32(octets) << 1
	if allow {
		r++
	}
	return r
}

// compileRules compiles the patterns of rules to a matcher. It ignores patterns
// that can never match. With fold, the matcher ignores case.
func compileRules(s *ruleset, fold bool) *matcher {
	f := s.file
	b := builder{matcher: &matcher{text: f.text, wildRules: new(wildRules)}, ruleset: s, literals: make([]literal, 0, len(s.rules)+1)}
	for i, line := range s.rules {
		r := line.rule(f)
		b.add(i, r.Pattern, fold)
		if f.dialect == Google && r.Allow {
			if folder, ok := pattern.IndexFolder(r.Pattern); ok {
				b.add(i, folder, fold)
			}
		}
	}
	if slices.ContainsFunc(b.literals, func(l literal) bool { return !strings.HasPrefix(f.text[l.at:], l.text) }) {
		b.joinTexts()
	}
	b.buildTree()
	b.placeWilds()
	b.nodes, b.exact = slices.Clone(b.nodes), slices.Clone(b.exact)
	if len(b.wilds)+len(b.exact) == 0 && b.index == nil {
		b.wildRules = nil
	}
	return b.matcher
}

// builder builds a matcher.
type builder struct {
	*matcher
	*ruleset
	literals []literal
}

// add adds a pattern of a rule, and the pattern as served if that makes a variant.
func (b *builder) add(rule int, text string, fold bool) {
	d, line := b.file.dialect, b.rules[rule]
	winnerOf := func(p *pattern.Pattern) winner { return winner{rank(d, p.Octets, rule, line.allow()), int32(rule)} }
	p, ok := pattern.Compile(text, d.Syntax(), fold)
	if !ok {
		return
	}
	if p.Wild {
		b.wilds = append(b.wilds, wildPattern{winnerOf(&p), p})
	} else {
		b.literals = append(b.literals, literal{text: p.Prefix, at: line.from, winner: winnerOf(&p), anchored: p.Anchored})
	}
	if served, differs := pattern.Served(text); differs && line.allow() {
		if p, ok := pattern.Compile(served, d.Syntax(), fold); ok {
			b.variants = append(b.variants, variant{winnerOf(&p), p})
		}
	}
}

// literal is a text to put into the tree, and its rule.
type literal struct {
	text     string
	at       uint32 // the text in matcher.text
	winner   winner
	anchored bool
}

// joinTexts makes a text of the literals, for patterns that are compared in another
// form than that of the file.
func (b *builder) joinTexts() {
	var text strings.Builder
	for i := range b.literals {
		b.literals[i].at = uint32(text.Len())
		text.WriteString(b.literals[i].text)
	}
	b.text = text.String()
}

// buildTree puts the literals into the tree, level by level. Each node
// represents a range of the sorted literals: those that start with the text of
// the node.
func (b *builder) buildTree() {
	literals := b.literals
	slices.SortFunc(literals, func(x, y literal) int {
		return cmp.Or(strings.Compare(x.text, y.text), cmp.Compare(x.winner.rule, y.winner.rule))
	})
	b.nodes = make([]node, 0, len(literals)+len(literals)/2+1)
	type job struct {
		from, to, depth int
		node            int32
	}
	b.addNode("", node{})
	for jobs := []job{{0, len(literals), 0, 0}}; len(jobs) > 0; jobs = jobs[1:] {
		j := jobs[0]
		for j.from < j.to && len(literals[j.from].text) == j.depth {
			b.end(j.node, &literals[j.from])
			j.from++
		}
		first := int32(len(b.nodes))
		for j.from < j.to {
			text, at := literals[j.from].text, literals[j.from].at
			c := text[j.depth]
			to := j.from + 1
			for to < j.to && literals[to].text[j.depth] == c {
				to++
			}
			depth := commonPrefix(text, literals[to-1].text, j.depth)
			b.nodes[j.node].child[c>>6] |= 1 << (c & 63)
			jobs = append(jobs, job{j.from, to, depth, int32(len(b.nodes))})
			b.addNode(text[j.depth:depth], node{at: at + uint32(j.depth), best: b.nodes[j.node].best})
			j.from = to
		}
		b.nodes[j.node].first = first
	}
}

func (b *builder) addNode(label string, nd node) {
	nd.size = uint32(len(label))
	for i := range min(len(label), 8) {
		nd.head |= uint64(label[i]) << (8 * i)
	}
	b.nodes = append(b.nodes, nd)
}

// end adds a literal to the node where its text ends.
func (b *builder) end(i int32, l *literal) {
	nd := &b.nodes[i]
	if l.anchored {
		b.addExact(exactRule{i, l.winner})
	} else {
		nd.best = l.winner.over(nd.best)
	}
}

// addExact adds a pattern that ends with a `$`, unless another one wins at its node.
func (b *builder) addExact(e exactRule) {
	if n := len(b.exact) - 1; n >= 0 && b.exact[n].node == e.node {
		b.exact[n].winner = e.over(b.exact[n].winner)
	} else {
		b.exact = append(b.exact, e)
		b.nodes[e.node].at |= hasExact
	}
}

// commonPrefix returns the length of the longest common prefix of a and b.
// Their first from octets must be equal.
func commonPrefix(a, b string, from int) int {
	n := min(len(a), len(b))
	for from < n && a[from] == b[from] {
		from++
	}
	return from
}

// maxListed is the maximal number of rules with a `*` that are compared one after the
// other. If there are more, they are put into the index.
const maxListed = 100

// placeWilds orders the rules with a `*`, or puts them into the index.
func (b *builder) placeWilds() {
	if len(b.wilds) > maxListed {
		b.index, b.wilds = newWildIndex(b.wilds), nil
		return
	}
	slices.SortStableFunc(b.wilds, func(x, y wildPattern) int { return cmp.Compare(y.rank, x.rank) })
	b.wilds = slices.Clone(b.wilds)
	for i := range b.wilds {
		b.grams = append(b.grams, b.wilds[i].Grams())
	}
}
