package robots

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// wildIndex finds the winner among many rules with a `*`. A pattern is a prefix and a
// sequence of fragments. It matches a text that starts with the prefix and has the
// fragments in this order, without overlaps. It is enough to search for the first
// occurrence of each fragment behind the fragment before.
//
// A match reads the text once. Each rule waits for one of its fragments. Where that
// occurs, the rule waits for its next one, from there on. So a rule costs time only if
// the text has its first fragments, and then a few nanoseconds for each of these.
//
// A fragment has two slots in which rules wait: 2*n for its occurrences anywhere,
// 2*n+1 for one at the end of the text.
//
// It is safe for concurrent use.
type wildIndex struct {
	*automaton
	slots []slot
	rules []indexedRule
	needs []int32   // the slots in which each rule waits, one after the other, and a 0
	pool  sync.Pool // of *wildMatch
}

type slot struct {
	size  int32 // octets of the fragment
	first int32 // the rules with this slot as their first one: up to the first of the next slot
}

// indexedRule is a rule in the index. The rules are in the order of their first slots,
// and then of the lengths of their prefixes.
type indexedRule struct {
	winner
	prefix string
	needs  int32 // in wildIndex.needs
	query  bool  // see subject.form
}

func newWildIndex(rules []wildPattern) *wildIndex {
	var all []string
	for i := range rules {
		all = append(all, rules[i].Parts...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	x := &wildIndex{rules: make([]indexedRule, len(rules)), automaton: newAutomaton(all)}
	slices.SortFunc(rules, func(a, b wildPattern) int { return slices.Compare(a.Parts, b.Parts) }) // neighbours wait together
	for i := range rules {
		x.addRule(&rules[i], all, &x.rules[i])
	}
	slices.SortStableFunc(x.rules, func(a, b indexedRule) int {
		return cmp.Or(cmp.Compare(x.needs[a.needs], x.needs[b.needs]), cmp.Compare(len(a.prefix), len(b.prefix)))
	})
	x.slots = make([]slot, 2*len(x.suffix)+1)
	for i := range x.slots {
		first, _ := slices.BinarySearchFunc(x.rules, int32(i), func(r indexedRule, slot int32) int {
			return cmp.Compare(x.needs[r.needs], slot)
		})
		x.slots[i].first = int32(first)
		if f := i / 2; 0 < f && f <= len(all) {
			x.slots[i].size = int32(len(all[f-1]))
		}
	}
	x.pool.New = func() any {
		return &wildMatch{
			wildIndex: x, idle: make([]int, len(x.suffix)), clean: make([]int, len(x.suffix)),
			queues: make([]queue, len(x.slots)), waiting: make([]waiter, len(x.rules)+1),
		}
	}
	return x
}

// addRule sets r to a rule. all has the fragments, sorted.
func (x *wildIndex) addRule(p *wildPattern, all []string, r *indexedRule) {
	*r = indexedRule{p.winner, p.Prefix, int32(len(x.needs)), p.Query}
	for i, part := range p.Parts {
		f, _ := slices.BinarySearch(all, part)
		slot := 2 * int32(f+1)
		if p.Anchored && i == len(p.Parts)-1 {
			slot++
		}
		x.needs = append(x.needs, slot)
	}
	x.needs = append(x.needs, 0)
}

// match returns the winner among best and the rules of the index.
func (x *wildIndex) match(s *subject, best winner) winner {
	best = x.matchText(s, s.target, best)
	if s.literal != s.target {
		best = x.matchText(s, s.literal, best)
	}
	return best
}

// matchText is match for the rules that are compared with this text of s.
func (x *wildIndex) matchText(s *subject, text string, best winner) winner {
	var m *wildMatch
	n := int32(0)
	for i := range len(text) {
		n = x.step(n, text[i])
		found := x.nodes[n].fragment
		if found == 0 {
			continue
		}
		if m == nil {
			m = x.pool.Get().(*wildMatch)
			m.subject, m.text, m.best, m.clock = *s, text, best, m.clock+1
			m.turn = m.clock
		}
		m.found(found, int32(i)+1)
	}
	if m == nil {
		return best
	}
	for f := x.nodes[n].fragment; f != 0; f = x.suffix[f] {
		m.serve(2*f+1, int32(len(text)))
	}
	best, m.subject, m.text = m.best, subject{}, ""
	x.pool.Put(m)
	return best
}

// wildMatch is the state of one match.
type wildMatch struct {
	*wildIndex
	subject subject
	text    string
	best    winner
	clock   int      // counts the matches, and the rules that began to wait
	turn    int      // clock at the start of the match
	idle    []int    // by fragment: the last turn in which no rule waits for it, so far
	clean   []int    // by fragment: clock when no rule waited for it and its suffixes
	queues  []queue  // by slot
	waiting []waiter // by rule, from 1
}

// queue has the rules that wait in a slot. They are in the order of the positions from
// which on they wait, since a match goes through the text once.
type queue struct {
	turn       int   // the last one that used the queue
	first      int32 // the next of the rules with this slot as their first one
	head, tail int32 // of the other rules, 0: none
}

// waiter is a rule that waits in a slot.
type waiter struct {
	next int32 // in the queue, 0: none
	need int32 // in wildIndex.needs
	from int32 // the position from which on it waits
}

// queue returns the queue of a slot.
func (m *wildMatch) queue(slot int32) *queue {
	q := &m.queues[slot]
	if q.turn != m.turn {
		*q = queue{turn: m.turn, first: m.slots[slot].first}
	}
	return q
}

// found advances the rules that wait for a fragment, or a suffix of it, that ends at a
// position.
func (m *wildMatch) found(fragment, end int32) {
	clean, clock := true, m.clock
	for f := fragment; f != 0 && m.clean[f] != clock; f = m.suffix[f] {
		if m.idle[f] == m.turn {
			continue
		}
		if m.serve(2*f, end) {
			m.idle[f] = m.turn
		} else {
			clean = false
		}
	}
	if clean {
		m.clean[fragment] = clock
	}
}

// serve advances the rules that wait in a slot whose fragment ends at a position. It
// reports whether none is left.
func (m *wildMatch) serve(slot, end int32) bool {
	q := m.queue(slot)
	start, last := end-m.slots[slot].size, m.slots[slot+1].first
	for ; q.first < last && len(m.rules[q.first].prefix) <= int(start); q.first++ {
		r := &m.rules[q.first]
		if r.rank > m.best.rank && m.subject.form(r.query) == m.text && strings.HasPrefix(m.text, r.prefix) {
			m.waiting[q.first+1].need = r.needs
			m.advance(q.first+1, end)
		}
	}
	for q.head != 0 && m.waiting[q.head].from <= start {
		n := q.head
		q.head = m.waiting[n].next
		m.advance(n, end)
	}
	return q.first == last && q.head == 0
}

// advance lets a rule wait for its next fragment from a position on. If there is none,
// the rule matches.
func (m *wildMatch) advance(n, at int32) {
	w := &m.waiting[n]
	w.need++
	slot := m.needs[w.need]
	if slot == 0 {
		m.best = m.rules[n-1].over(m.best)
		return
	}
	w.from, w.next, m.idle[slot/2] = at, 0, 0
	m.clock++
	q := m.queue(slot)
	if q.head == 0 {
		q.head = n
	} else {
		m.waiting[q.tail].next = n
	}
	q.tail = n
}
