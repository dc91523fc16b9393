package robots

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// fragmentIndex finds the winner among many rules with a `*`. A pattern is a
// prefix and fragments that follow each other; it matches a text if its last
// fragment still occurs behind the place where the others, each taken where it
// first can be, have come to their end.
//
// A text is looked through once for the first and the last occurrence of each
// fragment. Where a beginning of patterns ends is found once, however many
// rules share it. So a rule costs a comparison of two numbers, and only if its
// last fragment occurs.
type fragmentIndex struct {
	*automaton
	fragments []fragment // from 1
	tops      []tops     // of the fragments
	finals    []final    // by fragment, the anchored ones last, highest rank first
	prefixes  []string
	begins    []beginning
	pool      sync.Pool // of *fragmentScratch
}

// fragment is a text that stands between two `*` of a pattern, or after the
// last.
type fragment struct {
	text               string
	suffix             int32 // the longest other one that it ends with, 0: none
	least              int32 // where what comes before it ends at least, in its finals that are not anchored
	from, anchored, to int32 // its finals
}

// tops are the highest ranks of the rules that a fragment, or one that it ends
// with, is the last one of, is the last one of before a `$`, or stands within.
type tops struct{ final, anchored, inner uint32 }

// beginning is a beginning of patterns: a prefix, or another beginning and
// one more fragment.
type beginning struct {
	beginningKey
	least int32 // where it ends at least
}

type beginningKey struct {
	parent   int32 // -1: a prefix
	fragment int32 // or the number of the prefix
}

// final is a rule at its last fragment.
type final struct {
	winner
	begin int32 // what comes before the fragment
	query bool  // compared with the query as such
}

// fragmentScratch is the memory of one match. All but round and seen is zero
// between two.
type fragmentScratch struct {
	hits  hits
	round uint64
	seen  []uint64 // by fragment, the last round in which its finals were looked at
	spans []span   // of inner fragments: where the first and the last occurrence end, 0: none
	ends  []int32  // by beginning: see endOf
	known []int32  // beginnings whose ends are known
	path  []int32
}

// indexBuilder builds a fragmentIndex.
type indexBuilder struct {
	*fragmentIndex
	numbers map[string]int32
	begun   map[beginningKey]int32
	rules   []wildRule
}

func newFragmentIndex(rules []wildRule) *fragmentIndex {
	b := indexBuilder{fragmentIndex: &fragmentIndex{}, numbers: map[string]int32{}, begun: map[beginningKey]int32{}, rules: rules}
	var all []string
	for i := range rules {
		rules[i].eachFragment(func(f string) { all = append(all, f) })
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i, f := range all {
		b.numbers[f] = int32(i) + 1
	}
	var suffix []int32
	b.automaton, suffix = newAutomaton(all)
	b.fragments = make([]fragment, len(suffix))
	for i, f := range all {
		b.fragments[i+1] = fragment{text: f, suffix: suffix[i+1], least: never}
	}
	b.tops = make([]tops, len(b.fragments))
	b.addRules()
	for f := range b.tops {
		for s := suffix[f]; s != 0; s = suffix[s] {
			b.tops[f].final = max(b.tops[f].final, b.tops[s].final)
			b.tops[f].anchored = max(b.tops[f].anchored, b.tops[s].anchored)
			b.tops[f].inner = max(b.tops[f].inner, b.tops[s].inner)
		}
	}
	x := b.fragmentIndex
	x.pool.New = func() any {
		return &fragmentScratch{
			seen: make([]uint64, len(x.fragments)), spans: make([]span, len(x.fragments)), ends: make([]int32, len(x.begins)),
		}
	}
	return x
}

// eachFragment calls f with each fragment that the rule requires.
func (r *wildRule) eachFragment(f func(string)) {
	for _, part := range r.Parts {
		f(part)
	}
	if r.Last != "" {
		f(r.Last)
	}
}

func (b *indexBuilder) addRules() {
	type entry struct {
		fragment int32
		anchored bool
		final
	}
	entries := make([]entry, 0, len(b.rules))
	prefixes := map[string]int32{}
	for i := range b.rules {
		r := &b.rules[i]
		number, ok := prefixes[r.Prefix]
		if !ok {
			number = int32(len(b.prefixes))
			prefixes[r.Prefix] = number
			b.prefixes = append(b.prefixes, r.Prefix)
		}
		at, last := b.begin(beginningKey{-1, number}), int32(0)
		r.eachFragment(func(f string) {
			if last != 0 {
				at = b.begin(beginningKey{at, last})
				b.tops[last].inner = max(b.tops[last].inner, r.rank)
			}
			last = b.numbers[f]
		})
		if top := &b.tops[last]; r.Anchored {
			top.anchored = max(top.anchored, r.rank)
		} else {
			top.final = max(top.final, r.rank)
		}
		entries = append(entries, entry{last, r.Anchored, final{r.winner, at, r.Query}})
	}
	slices.SortStableFunc(entries, func(x, y entry) int {
		if c := cmp.Compare(x.fragment, y.fragment); c != 0 {
			return c
		}
		if x.anchored != y.anchored {
			if y.anchored {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.rank, x.rank)
	})
	b.finals = make([]final, len(entries))
	for i, e := range entries {
		b.finals[i] = e.final
		r := &b.fragments[e.fragment]
		if r.to == 0 {
			r.from, r.anchored, r.to = int32(i), int32(i), int32(i)
		}
		r.to++
		if !e.anchored {
			r.anchored = r.to
			r.least = min(r.least, b.begins[e.begin].least)
		}
	}
}

// begin returns the number of a beginning.
func (b *indexBuilder) begin(key beginningKey) int32 {
	number, ok := b.begun[key]
	if !ok {
		var least int
		if key.parent < 0 {
			least = len(b.prefixes[key.fragment])
		} else {
			least = int(b.begins[key.parent].least) + len(b.fragments[key.fragment].text)
		}
		number = int32(len(b.begins))
		b.begun[key] = number
		b.begins = append(b.begins, beginning{key, int32(least)})
	}
	return number
}

// match returns the winner among best and the rules of the index.
func (x *fragmentIndex) match(s *subject, best winner) winner {
	if s.literal == s.target {
		return x.matchText(s.target, anyForm, best)
	}
	best = x.matchText(s.target, queryForm, best)
	return x.matchText(s.literal, pathForm, best)
}

// form says which rules a text is for.
type form uint8

const (
	anyForm form = iota
	queryForm
	pathForm
)

func (x *fragmentIndex) matchText(text string, f form, best winner) winner {
	var few fewHits
	h := hits{inner: few.inner[:0], final: few.final[:0]}
	h, at, state := x.scan(h, text, 0, 0, x.tops, best.rank)
	if at == len(text) && len(h.final) == 0 && x.tops[h.end].anchored <= best.rank {
		return best
	}
	m := x.pool.Get().(*fragmentScratch)
	if at < len(text) {
		m.hits, _, _ = x.scan(h.copyTo(m.hits, len(text)), text, at, state, x.tops, best.rank)
		h = m.hits
	}
	m.mark(x.fragments, h.inner)
	if x.tops[h.end].anchored > best.rank {
		for n := h.end; n != 0; n = x.fragments[n].suffix {
			fr := &x.fragments[n]
			best = x.decide(m, text, int32(len(text)-len(fr.text)), x.finals[fr.anchored:fr.to], f, best)
		}
	}
	m.round++
	for i := len(h.final) - 1; i >= 0; i-- {
		end := h.final[i].end
		for n := h.final[i].fragment; n != 0 && m.seen[n] != m.round; {
			m.seen[n] = m.round
			fr := &x.fragments[n]
			if start := end - int32(len(fr.text)); fr.least <= start {
				best = x.decide(m, text, start, x.finals[fr.from:fr.anchored], f, best)
			}
			n = fr.suffix
		}
	}
	m.reset(x.fragments, h)
	x.pool.Put(m)
	return best
}

// decide returns the winner among best and the rules that end with a fragment
// which last occurs at start.
func (x *fragmentIndex) decide(m *fragmentScratch, text string, start int32, finals []final, f form, best winner) winner {
	for i := range finals {
		r := &finals[i]
		if r.rank <= best.rank {
			break
		}
		if f != anyForm && r.query != (f == queryForm) {
			continue
		}
		end := m.ends[r.begin] - 1
		if end < 0 {
			end = x.endOf(m, text, r.begin)
		}
		if end <= start {
			best = r.winner
			break
		}
	}
	return best
}

// never is where a beginning ends that the text does not have.
const never = 1<<31 - 2

// endOf returns the first place where a beginning of patterns comes to its end
// in the text.
func (x *fragmentIndex) endOf(m *fragmentScratch, text string, begin int32) int32 {
	path := m.path[:0]
	for m.ends[begin] == 0 {
		path = append(path, begin)
		b := &x.begins[begin]
		if b.parent < 0 || int(m.spans[b.fragment].to)-len(x.fragments[b.fragment].text) < int(x.begins[b.parent].least) {
			break // the fragment does not occur, or not behind the parent
		}
		begin = b.parent
	}
	end := m.ends[begin] - 1
	for i := len(path) - 1; i >= 0; i-- {
		end = x.extend(m, text, x.begins[path[i]].beginningKey, end)
		m.ends[path[i]] = end + 1
	}
	m.known = append(m.known, path...)
	m.path = path
	return end
}

// extend returns where a beginning ends whose parent ends at end.
func (x *fragmentIndex) extend(m *fragmentScratch, text string, b beginningKey, end int32) int32 {
	if b.parent < 0 {
		if prefix := x.prefixes[b.fragment]; strings.HasPrefix(text, prefix) {
			return int32(len(prefix))
		}
		return never
	}
	fr := x.fragments[b.fragment].text
	size := len(fr)
	switch s := m.spans[b.fragment]; {
	case end < 0, s.to == 0, s.to-size < int(end):
		return never
	case s.from-size >= int(end):
		return int32(s.from)
	default:
		return end + int32(strings.Index(text[end:], fr)+size)
	}
}

// mark finds the first and the last occurrence of each inner fragment.
func (m *fragmentScratch) mark(fragments []fragment, inner []hit) {
	for _, h := range inner {
		for n := h.fragment; n != 0 && m.spans[n].from == 0; n = fragments[n].suffix {
			m.spans[n].from = int(h.end)
		}
	}
	for i := len(inner) - 1; i >= 0; i-- {
		for n := inner[i].fragment; n != 0 && m.spans[n].to == 0; n = fragments[n].suffix {
			m.spans[n].to = int(inner[i].end)
		}
	}
}

func (m *fragmentScratch) reset(fragments []fragment, h hits) {
	for _, h := range h.inner {
		for n := h.fragment; n != 0 && m.spans[n].from != 0; n = fragments[n].suffix {
			m.spans[n] = span{}
		}
	}
	for _, n := range m.known {
		m.ends[n] = 0
	}
	m.known, m.path = m.known[:0], m.path[:0]
	if cap(m.hits.final) > maxKeptHits {
		m.hits = hits{}
	}
}
