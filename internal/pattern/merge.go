package pattern

import "strings"

// MaxProduct limits the comparison of two patterns: Merge does not compare
// patterns if the product of their lengths in octets, plus one each, is larger.
const MaxProduct = 1 << 14

// star is the token for a `*`, and end the token after the last one. All other
// tokens are octets.
const (
	star = -1
	end  = -2
)

// Merge calls yield with texts that both p and q match. Together, the texts
// stand for all texts that both match: each text that both match results from
// one of them by replacing occurrences of fill with other texts. fill replaces
// the octets that a `*` of p and a `*` of q match at the same time.
//
// If fill has an octet that a third pattern r does not have, only a `*` of r
// can match it. So if r matches one of the texts, it also matches all texts
// that this text stands for.
//
// Each step subtracts one from budget. Merge returns false if it did not find
// all texts: because the budget was used up, because of MaxProduct, or because
// yield returned false.
func Merge(p, q *Pattern, fill string, budget *int, yield func(text string) bool) bool {
	for _, a := range p.tokenLists() {
		for _, b := range q.tokenLists() {
			m := merger{a: a, b: b, fill: fill, budget: budget, yield: yield, seen: map[string]bool{}}
			if !m.run() {
				return false
			}
		}
	}
	return true
}

// tokenLists returns the tokens of p (see tokens). Every path starts with a
// slash. If p starts with a `*`, tokenLists returns two lists that start with a
// slash: one where the `*` matches the slash, and one where the `*` matches
// nothing and the next octet of p is the slash.
func (p *Pattern) tokenLists() [][]int16 {
	all := p.tokens()
	if len(all) == 0 || all[0] != star {
		return [][]int16{all}
	}
	list := [][]int16{append([]int16{'/'}, all...)}
	if len(all) > 1 && all[1] == '/' {
		list = append(list, all[1:])
	}
	return list
}

// merger searches all ways in which two patterns match the same text. A state
// of the search is a pair of positions, one in each pattern.
type merger struct {
	a, b   []int16
	fill   string
	budget *int
	yield  func(string) bool

	canFinish []bool // by pair: some text leads both patterns from there to their ends
	text      []byte
	seen      map[string]bool
}

func (m *merger) run() bool {
	n := min(len(m.a), len(m.b))
	for i := range n {
		if m.a[i] == star || m.b[i] == star {
			break
		}
		if m.a[i] != m.b[i] {
			return true
		}
	}
	if (len(m.a)+1)*(len(m.b)+1) > MaxProduct {
		return false
	}
	m.findFinish()
	return m.extend(0, 0)
}

// tokenAt returns the token at index i, and end behind the last one.
func tokenAt(list []int16, i int) int16 {
	if i < len(list) {
		return list[i]
	}
	return end
}

// steps calls f with each pair that can follow (i, j), and with the token that
// the text has between the two: an octet, star for the fill text, or end for
// nothing.
func (m *merger) steps(i, j int, f func(i, j int, text int16)) {
	x, y := tokenAt(m.a, i), tokenAt(m.b, j)
	switch {
	case x == star && y == star:
		f(i+1, j, star)
		f(i, j+1, star)
	case x == star:
		f(i+1, j, end)
		if y >= 0 {
			f(i, j+1, y)
		}
	case y == star:
		f(i, j+1, end)
		if x >= 0 {
			f(i+1, j, x)
		}
	case x >= 0 && x == y:
		f(i+1, j+1, x)
	}
}

func (m *merger) findFinish() {
	w := len(m.b) + 1
	m.canFinish = make([]bool, (len(m.a)+1)*w)
	m.canFinish[len(m.canFinish)-1] = true
	for i := len(m.a); i >= 0; i-- {
		for j := len(m.b); j >= 0; j-- {
			m.steps(i, j, func(ni, nj int, _ int16) { m.canFinish[i*w+j] = m.canFinish[i*w+j] || m.canFinish[ni*w+nj] })
		}
	}
	*m.budget -= len(m.canFinish) / 2
}

// extend continues the search from a pair. m.text is the text so far.
func (m *merger) extend(i, j int) bool {
	if !m.canFinish[i*(len(m.b)+1)+j] {
		return true
	}
	if *m.budget--; *m.budget < 0 {
		return false
	}
	if i == len(m.a) && j == len(m.b) {
		if text := string(m.text); !m.seen[text] {
			m.seen[text] = true
			return m.yield(text)
		}
		return true
	}
	size, ok := len(m.text), true
	m.steps(i, j, func(ni, nj int, text int16) {
		switch {
		case text >= 0:
			m.text = append(m.text, byte(text))
		case text == star && !strings.HasSuffix(string(m.text), m.fill):
			m.text = append(m.text, m.fill...)
		}
		ok = ok && m.extend(ni, nj)
		m.text = m.text[:size]
	})
	return ok
}
