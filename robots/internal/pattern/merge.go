package pattern

import "strings"

// MaxProduct bounds the product of the lengths of two patterns that are
// compared.
const MaxProduct = 1 << 14

// star stands for a `*` among the octets of a pattern.
const star = -1

// Merge calls yield with texts that both p and q match, where fill stands for
// what a `*` of both takes. For every text that both match there is a pattern
// among those whose witnesses these are, with fill for a `*`, which matches it:
// so if fill has an octet that no third pattern has, and a third pattern
// matches none of the witnesses, it does not match all that p and q have in
// common. Each step costs one of budget. Merge returns false if it did not come
// to an end: within budget, within MaxProduct, or because yield returned false.
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

// tokenLists returns the octets of p, and a star for each `*`, also the one that
// follows every pattern without a `$`. A pattern that starts with a `*` is cut
// into those of its texts that start with the slash of the `*`, and those that
// start with its own.
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

// merger goes through the ways in which two patterns match one text: pairs of
// how far each has come.
type merger struct {
	a, b   []int16
	fill   string
	budget *int
	yield  func(string) bool

	canFinish []bool // by pair: both can come to their ends from here
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

// tokenAt returns the octet or star at i, and -2 at the end.
func tokenAt(list []int16, i int) int16 {
	if i < len(list) {
		return list[i]
	}
	return -2
}

// steps calls f with each pair that follows (i, j), and what the text has
// between the two.
func (m *merger) steps(i, j int, f func(i, j int, text int16)) {
	x, y := tokenAt(m.a, i), tokenAt(m.b, j)
	switch {
	case x == star && y == star:
		f(i+1, j, star)
		f(i, j+1, star)
	case x == star:
		f(i+1, j, -2)
		if y >= 0 {
			f(i, j+1, y)
		}
	case y == star:
		f(i, j+1, -2)
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
			m.steps(i, j, func(ni, nj int, _ int16) {
				m.canFinish[i*w+j] = m.canFinish[i*w+j] || m.canFinish[ni*w+nj]
			})
		}
	}
	*m.budget -= len(m.canFinish) / 2
}

// extend goes on from a pair with the text so far.
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
