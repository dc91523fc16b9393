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
	inStorm  uint32 // when the check went on or off before the page that counted as an address
}

// lone returns how many pages of lone addresses a visit counts as.
func (v *visit) lone() int32 {
	if v.isLone {
		return max(v.sure, v.pages)
	}
	return v.sure
}

// change changes a visit, and what it counts.
func (s *Storm) change(v *memo, now uint32, change func()) {
	pages, lone := v.pages, v.lone()
	change()
	s.add(v.at, now, v.pages-pages, v.lone()-lone)
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
	sure      int32
	isLone    bool
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
	if since := s.since.Load(); v.inStorm != since {
		v.inStorm = since
		s.addresses.Add(1)
	}
	if isPast(v.at, now, lonelyFor) {
		v.at, v.pages, v.sure = now, 0, 0
		v.isLone = now-v.embedded >= day
	}
	switch {
	case sure:
		p.sure = 1
	case v.count == mostPages && v.isLone:
		p.sure = v.pages + 1 - v.sure // no embedded file takes them back any more
	case v.count == mostPages: // the address comes faster than people: all pages of the minute count
		p.sure = mostPages
	}
	s.change(v, now, func() { v.pages, v.sure = v.pages+1, v.sure+p.sure })
	p.visitor, p.at, p.since, p.isLone = v, v.at, v.since, v.lone() > 0
	return p
}

// giveBack takes a page back that was none, unless the visit is over.
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
	if v.at == p.at {
		s.change(v, 0, func() { v.pages, v.sure = v.pages-1, v.sure-p.sure })
	}
}

// embeds notes that an address fetched an embedded file: it is not lone.
func (s *Storm) embeds(v *memo, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.embedded = now
	if !isPast(v.at, now, lonelyFor) {
		s.change(v, 0, func() { v.isLone = false })
	}
}
