package origins

import "github.com/caddy-robots/caddy-robots/enforce/judge"

// find returns the entry of r's origin. It adds one if there is none.
func (p *Table) find(r *judge.Request) *entry {
	key := p.Key(r.Origin)
	if e := p.table.find(key); e != nil {
		if !r.Invented && e.invented.Load() {
			e.invented.Store(false)
		}
		return e
	}
	return p.add(key, r)
}

// add adds an origin to the table. If the table is full, it evicts another one.
func (p *Table) add(origin judge.Origin, r *judge.Request) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.table.find(origin); e != nil {
		return e
	}
	invented := r.Invented && p.source.PerOrigin()
	e := &entry{origin: origin}
	e.pending, e.evicted = p.pendingFor(origin, invented)
	e.invented.Store(invented)
	e.used.Store(r.Time.UnixNano())
	if p.Len() >= p.cfg.MaxOrigins {
		p.evict(e, false)
	}
	p.insert(e)
	return e
}

// evict removes the least valuable origin, other than keep, from the table: to
// free memory, or because there are too many. It reports whether there was one.
// The caller holds p.mu.
func (p *Table) evict(keep *entry, memory bool) bool {
	e := p.table.leastValuable(keep)
	if e == nil {
		return false
	}
	p.table.remove(e)
	if !p.retired {
		p.cfg.Ceiling.add(-entrySize)
	}
	e.gone = true
	p.keepNames(e)
	if e.rules.Load() != nil || e.fetching.Load() {
		p.cfg.Evicted(memory)
	}
	p.account(e.rules.Load(), -1)
	p.setHistory(e, nil)
	return true
}

// leastValuable returns the entry to evict, other than keep, or nil if there is
// none. It chooses the lowest value, and among equal values the entry that was
// used least recently.
func (t *originTable) leastValuable(keep *entry) (worst *entry) {
	seen, buckets := 0, *t.buckets.Load()
	for range buckets {
		t.hand = (t.hand + 1) & (len(buckets) - 1)
		for l := buckets[t.hand].Load(); l != nil; l = l.next.Load() {
			if l.entry == keep {
				continue
			}
			if seen++; worst == nil || l.lessValuable(worst) {
				worst = l.entry
			}
		}
		if seen >= evictionSample {
			break
		}
	}
	return worst
}

// lessValuable reports whether e should be evicted before other.
func (e *entry) lessValuable(other *entry) bool {
	if a, b := e.value(), other.value(); a != b {
		return a < b
	}
	return e.used.Load() < other.used.Load()
}

// value ranks an entry for eviction: 0 for an invented host without rules, 1 for
// one with rules, 2 for one whose file is fetched first, since a request can
// wait for it; 3 to 5 likewise for other hosts.
func (e *entry) value() int {
	v := 0
	switch {
	case e.rules.Load() != nil:
		v = 1
	case e.fetching.Load():
		v = 2
	}
	if !e.invented.Load() {
		v += 3
	}
	return v
}
