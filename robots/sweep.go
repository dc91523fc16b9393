package robots

import (
	"math/bits"
	"strings"
)

// fragmentScratch is the memory of one match. All but hits, next and left is zero
// or empty between two.
type fragmentScratch struct {
	hits    []hit
	present []int32      // symbols that the text has, the one that ends first for the last time last
	ahead   []uint64     // set of those that end behind the place where the sweep is
	words   []uint64     // set of the words of ahead that are not zero
	bits    []uint64     // by octet of the text: symbolBit of all that end behind it
	places  []occurrence // by symbol
	reached []int32      // by octet of the text: the first of the beginnings that end there
	next    []int32      // by beginning: the next one that ends at the same octet
	stack   []visit      // beginnings with few edges that are to be visited next
	left    int          // how many of present are ahead
	pending int          // beginnings that are still to come
}

// occurrence is where a symbol is in a text.
type occurrence struct {
	last      int32 // where it ends for the last time, 0: never
	from, end int32 // the first one that starts at from or behind ends at end; -1 is as 0
}

// visit is a beginning that ends at an octet.
type visit struct{ begin, at int32 }

func newFragmentScratch(x *fragmentIndex) *fragmentScratch {
	n := len(x.sizes)
	return &fragmentScratch{
		ahead: make([]uint64, n>>6+1), words: make([]uint64, n>>12+1), places: make([]occurrence, n), next: make([]int32, len(x.begins)),
	}
}

// mark finds which symbols of rules above a rank a text of n octets has, and
// where each is for the first and for the last time.
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

// add adds a symbol that ends for the last time at end.
func (m *fragmentScratch) add(symbol, end int32) {
	m.present = append(m.present, symbol)
	m.ahead[symbol>>6] |= 1 << (symbol & 63)
	m.words[symbol>>12] |= 1 << (symbol >> 6 & 63)
	m.bits[end-1] |= symbolBit(symbol)
	m.places[symbol] = occurrence{last: end, from: -1}
}

// moveTo removes the symbols that end at an octet or before for the last time.
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

// reach records that a beginning comes to an end at an octet.
func (m *fragmentScratch) reach(begin int32, at int) {
	m.next[begin], m.reached[at] = m.reached[at], begin
	m.pending++
}

// reachRoots records the prefixes of rules of a form that a text has.
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

// sweep goes through the beginnings that the text has, and returns the winner
// among best and the rules that end behind one.
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

// visit follows the edges of a beginning if the text may have what they need.
func (x *fragmentIndex) visit(m *fragmentScratch, text string, v visit, best winner) winner {
	b := &x.begins[v.begin]
	if b.top > best.rank && b.needs&^m.bits[v.at] == 0 && int(v.at+b.least) <= len(text) {
		best = x.follow(m, text, int(v.at), v.begin, best)
	}
	return best
}

// follow goes along the edges of a beginning that ends at an octet.
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
				e := &x.edges[int(s.edge)+bits.OnesCount64(s.mask&(symbols&-symbols-1))]
				if e.top > best.rank {
					best = x.take(m, text, at, e, best)
				}
			}
		}
	}
	return best
}

// take goes along an edge whose first symbol the text may have behind an octet.
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

// step returns where the first occurrence of a symbol behind an octet ends, a
// negative number if there is none.
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

// walk returns where symbols that follow each other come to an end behind an
// octet, a negative number if the text does not have them.
func (x *fragmentIndex) walk(m *fragmentScratch, text string, at int, symbols []int32) int {
	// The narrowest symbol is the one that leaves those before it the least room
	// to its last occurrence: the first has to start at latest or before.
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
