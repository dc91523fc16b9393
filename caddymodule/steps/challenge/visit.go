package challenge

// visit is what an address does at a site: its pages within lonelyFor, which count in the second
// of the first of them, and those of a minute, which are bounded. Times are in seconds since 1970.
type visit struct {
	at     uint32 // of the first page
	pages  int32
	sure   int32 // what these count as lone, whatever the address fetches
	isLone bool  // it has fetched no embedded file, then or in the day before

	embedded uint32 // when it fetched an embedded file last; 0: never
	since    uint32 // when a minute began, with a page
	count    int32  // of pages in that minute
}

// weight returns what the pages of a visit count.
func (v *visit) weight() weight {
	if v.isLone {
		return weight{v.pages, max(v.sure, v.pages)}
	}
	return weight{v.pages, v.sure}
}

// isPast reports whether a time is over: not if requests overtake each other, but if the clock
// was set back.
func isPast(begin, now uint32, length int32) bool {
	age := int32(now - begin)
	return age >= length || age <= -length
}

// counted is a page of a stranger that was counted. The zero value is none.
type counted struct {
	visitor   *memo  // nil if the page was not counted
	at, since uint32 // of visitor, when it was counted
	by        weight // what it counts
	sure      int32
}

// count counts a page of a stranger. v is what is remembered of what counts as one address.
// sure says that it counts as a lone address's, whatever it fetches.
func (s *Storm) count(v *memo, now uint32, sure bool) (p counted) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if isPast(v.since, now, minute) {
		v.since, v.count = now, 0
	}
	if v.count >= mostPages {
		return p
	}
	v.count++
	if isPast(v.at, now, lonelyFor) {
		isLone := v.embedded == 0 || now-v.embedded >= day
		v.at, v.pages, v.sure, v.isLone = now, 0, 0, isLone
	}
	before := v.weight()
	v.pages++
	switch {
	case sure:
		p.sure = 1
	case v.count == mostPages && v.isLone:
		p.sure = v.pages - v.sure // no embedded file takes them back any more
	case v.count == mostPages: // the address comes faster than people: all pages of the minute count
		p.sure = mostPages
	}
	v.sure += p.sure
	p.visitor, p.at, p.since, p.by = v, v.at, v.since, v.weight().less(before)
	s.add(v.at, now, p.by)
	return p
}

// giveBack takes a page back that was none.
func (s *Storm) giveBack(p *counted) {
	v := p.visitor
	if v == nil {
		return
	}
	p.visitor = nil
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.since == p.since {
		v.count--
	}
	by := weight{}.less(p.by)
	if v.at == p.at {
		before := v.weight()
		v.pages, v.sure = v.pages-1, v.sure-p.sure
		by = v.weight().less(before)
	}
	s.add(p.at, 0, by)
}

// embeds notes that an address fetched an embedded file: it is not lone.
func (s *Storm) embeds(v *memo, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.embedded = now
	if !isPast(v.at, now, lonelyFor) {
		before := v.weight()
		v.isLone = false
		s.add(v.at, 0, v.weight().less(before))
	}
}
