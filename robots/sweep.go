package robots

import (
	"math/bits"
	"strings"
)

// hit is an occurrence of a fragment: the longest one that ends at an octet.
type hit struct{ end, fragment int32 }

// stackHits has room for the hits in most texts, on the stack.
type stackHits [64]hit

// maxKeptHits is the maximal capacity, in hits or octets, of buffers that are
// kept for reuse.
const maxKeptHits = 16 << 10

// fragmentScratch holds the buffers of one match. Between two matches, all
// fields except hits, next and left are zero or empty.
type fragmentScratch struct {
	hits    []hit
	present []int32      // symbols that the text has, sorted by the end of their last occurrence, the highest first
	ahead   []uint64     // set of the symbols that end behind the current position of the sweep
	words   []uint64     // set of the words of ahead that are not 0
	bits    []uint64     // by position in the text: symbolBit of all symbols that end behind it
	places  []occurrence // by symbol: where it occurs
	reached []int32      // by position in the text: the first of the beginnings that end there
	next    []int32      // by beginning: the next one that ends at the same position
	stack   []visit      // beginnings with few edges to visit next
	left    int          // number of symbols in present that are ahead
	pending int          // number of beginnings in reached that were not visited yet
}

// occurrence has the places of a symbol in a text.
type occurrence struct {
	last      int32 // the end of its last occurrence, 0: none
	from, end int32 // the first occurrence at or behind from ends at end; from -1 means 0
}

// visit is a beginning that ends at a position of the text.
type visit struct{ begin, at int32 }

func newFragmentScratch(x *fragmentIndex) *fragmentScratch {
	n := len(x.sizes)
	return &fragmentScratch{
		ahead: make([]uint64, n>>6+1), words: make([]uint64, n>>12+1), places: make([]occurrence, n), next: make([]int32, len(x.begins)),
	}
}

// mark finds the symbols that occur in a text of n octets and belong to rules
// with a higher rank. It records the first and the last occurrence of each.
func (m *fragmentScratch) mark(x *fragmentIndex, h []hit, n int, rank uint32) {
	if cap(m.reached) <= n {
		m.reached, m.bits = make([]int32, n+1+n/4), make([]uint64, n+1+n/4)
	}
	m.reached, m.bits = m.reached[:n+1], m.bits[:n+1]
	if end := h[len(h)-1]; int(end.end) == n {
		for f := end.fragment; f != 0; f = x.fragments[f].suffix {
			if symbol := x.fragments[f].atEnd; symbol != 0 {
				m.add(symbol, int32(n))
			}
		}
	}
	nested := false
	for i := len(h) - 1; i >= 0; i-- {
		end, f := h[i].end, h[i].fragment
		p := &m.places[f]
		if p.last == 0 {
			if t := &x.fragments[f]; t.last <= rank && t.inner <= rank {
				continue
			}
			nested = nested || x.fragments[f].suffix != 0
			for s := f; s != 0 && m.places[s].last == 0; s = x.fragments[s].suffix {
				m.add(s, end)
			}
		}
		p.end = end
	}
	for i := len(m.bits) - 2; i >= 0; i-- {
		m.bits[i] |= m.bits[i+1]
	}
	if nested {
		for i := range h {
			for s := h[i].fragment; s != 0 && m.places[s].from < 0; s = x.fragments[s].suffix {
				m.places[s].from, m.places[s].end = 0, h[i].end
			}
		}
	}
}

// add adds a symbol. end is the end of its last occurrence.
func (m *fragmentScratch) add(symbol, end int32) {
	m.present = append(m.present, symbol)
	m.ahead[symbol>>6] |= 1 << (symbol & 63)
	m.words[symbol>>12] |= 1 << (symbol >> 6 & 63)
	m.bits[end-1] |= symbolBit(symbol)
	m.places[symbol] = occurrence{last: end, from: -1}
}

// moveTo removes from ahead the symbols that end last at or before a position.
func (m *fragmentScratch) moveTo(at int) {
	for ; m.left > 0; m.left-- {
		symbol := m.present[m.left-1]
		if int(m.places[symbol].last) > at {
			return
		}
		if m.ahead[symbol>>6] &^= 1 << (symbol & 63); m.ahead[symbol>>6] == 0 {
			m.words[symbol>>12] &^= 1 << (symbol >> 6 & 63)
		}
	}
}

// reach records that a beginning ends at a position.
func (m *fragmentScratch) reach(begin int32, at int) {
	m.next[begin], m.reached[at] = m.reached[at], begin
	m.pending++
}

// reachRoots records the beginnings for all prefixes at the start of a text,
// for the rules that f selects.
func (m *fragmentScratch) reachRoots(x *fragmentIndex, text string, f form) {
	for p := x.findPrefix(text); p >= 0; p = x.prefixes[p].up {
		pre := &x.prefixes[p]
		for i, root := range pre.roots {
			if root != 0 && f&(1<<i) != 0 {
				m.reach(root, len(pre.text))
			}
		}
	}
}

func (m *fragmentScratch) reset() {
	for _, symbol := range m.present {
		m.ahead[symbol>>6], m.words[symbol>>12] = 0, 0
		m.places[symbol] = occurrence{}
	}
	clear(m.reached)
	clear(m.bits)
	m.present, m.reached, m.bits = m.present[:0], m.reached[:0], m.bits[:0]
	if cap(m.hits) > maxKeptHits || cap(m.reached) > maxKeptHits {
		m.hits, m.reached, m.bits = nil, nil, nil
	}
}

// sweep visits the beginnings that the text has, from the start of the text to
// its end. It returns the winner among best and the rules that it found to
// match.
func (x *fragmentIndex) sweep(m *fragmentScratch, text string, best winner) winner {
	m.left = len(m.present)
	for at := 0; m.pending > 0; at++ {
		n := m.reached[at]
		if n != 0 {
			m.moveTo(at)
		}
		for ; n != 0; n = m.next[n] {
			m.pending--
			best = x.visit(m, text, visit{n, int32(at)}, best)
			for len(m.stack) > 0 {
				top := len(m.stack) - 1
				v := m.stack[top]
				m.stack = m.stack[:top]
				best = x.visit(m, text, v, best)
			}
		}
	}
	return best
}

// visit follows the edges of a beginning, unless it is certain that the rest of
// the text does not have the symbols of any rule behind it.
func (x *fragmentIndex) visit(m *fragmentScratch, text string, v visit, best winner) winner {
	if b := &x.begins[v.begin]; b.top > best.rank && b.needs&^m.bits[v.at] == 0 && int(v.at+b.least) <= len(text) {
		best = x.follow(m, text, int(v.at), v.begin, best)
	}
	return best
}

// follow follows the edges of a beginning that ends at a position.
func (x *fragmentIndex) follow(m *fragmentScratch, text string, at int, begin int32, best winner) winner {
	b, end := &x.begins[begin], &x.begins[begin+1]
	if b.group == end.group {
		for i := b.edge; i < end.edge; i++ {
			if e := &x.edges[i]; e.top > best.rank && m.ahead[e.symbol>>6]&(1<<(e.symbol&63)) != 0 {
				best = x.take(m, text, at, e, best)
			}
		}
		return best
	}
	for i := b.group; i < end.group; i++ {
		g := &x.groups[i]
		for words := g.mask & m.words[g.word]; words != 0; words &= words - 1 {
			s := &x.sets[int(g.set)+bits.OnesCount64(g.mask&(words&-words-1))]
			symbols := s.mask & m.ahead[int(g.word)<<6+bits.TrailingZeros64(words)]
			for ; symbols != 0 && s.top > best.rank; symbols &= symbols - 1 {
				if e := &x.edges[int(s.edge)+bits.OnesCount64(s.mask&(symbols&-symbols-1))]; e.top > best.rank {
					best = x.take(m, text, at, e, best)
				}
			}
		}
	}
	return best
}

// take follows an edge whose first symbol may occur behind a position.
func (x *fragmentIndex) take(m *fragmentScratch, text string, at int, e *edge, best winner) winner {
	if e.needs&^m.bits[at] != 0 || at+int(e.least) > len(text) {
		return best
	}
	rest := x.symbols[e.from:e.to]
	end := x.step(m, text, at, e.symbol)
	if len(rest) > 0 && end >= 0 {
		end = x.walk(m, text, end, rest)
	}
	if end < 0 {
		return best
	}
	best = e.winner.over(best)
	if e.child == 0 || e.top <= best.rank {
		return best
	}
	if x.begins[e.child].group == x.begins[e.child+1].group {
		m.stack = append(m.stack, visit{e.child, int32(end)})
	} else {
		m.reach(e.child, end)
	}
	return best
}

// step returns the end of the first occurrence of a symbol at or behind a
// position, a negative number if there is none.
func (x *fragmentIndex) step(m *fragmentScratch, text string, at int, symbol int32) int {
	p, size := &m.places[symbol], int(x.sizes[symbol])
	switch {
	case at+size > int(p.last):
		return -1
	case int(symbol) >= len(x.fragments): // at the end of the text
		return len(text)
	case int(p.from) > at || at+size > int(p.end):
		p.from = int32(at)
		p.end = p.from + int32(strings.Index(text[at:], x.texts[symbol])+size)
	}
	return int(p.end)
}

// walk returns the end of the first occurrences of a sequence of symbols behind
// a position, a negative number if the text does not have the sequence.
func (x *fragmentIndex) walk(m *fragmentScratch, text string, at int, symbols []int32) int {
	// Each symbol must end at or before its last occurrence. This limits where
	// the first symbol of the sequence may start. latest is the lowest of these
	// limits, and narrowest the symbol that it comes from.
	latest, narrowest, size := len(text), 0, 0
	for i, symbol := range symbols {
		size += int(x.sizes[symbol])
		if start := int(m.places[symbol].last) - size; start < latest {
			latest, narrowest = start, i
		}
	}
	for i, symbol := range symbols {
		if at > latest && i <= narrowest {
			return -1
		}
		if at = x.step(m, text, at, symbol); at < 0 {
			return -1
		}
		latest += int(x.sizes[symbol])
	}
	return at
}
