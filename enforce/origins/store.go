package origins

import (
	"cmp"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

type dropped = kept[judge.Origin, judge.Names]

const maxDroppedSize = 8 << 20 // octets of a dropped

// insert adds an entry to the table. The caller holds p.mu.
func (p *Table) insert(e *entry) {
	p.table.insert(e)
	if !p.retired {
		p.cfg.Ceiling.add(entrySize)
	}
}

// entrySize is what an origin takes besides its rules: the entry, its history,
// and their copies for the time after a reload, as BenchmarkHosts measures it.
const entrySize = 850

// Len returns the number of origins in p.
func (p *Table) Len() int { return int(p.table.n.Load()) }

// All calls f for each origin that has rules.
func (p *Table) All(f func(judge.Origin, *judge.Rules)) {
	for e := range p.table.all() {
		if rules := e.rules.Load(); rules != nil {
			f(e.origin, rules)
		}
	}
}

// RulesOf returns the rules in force for an origin, or nil if there are none. Unlike
// Peek, it starts no fetch.
func (p *Table) RulesOf(origin judge.Origin) *judge.Rules {
	if e := p.table.find(p.Key(origin)); e != nil {
		return e.rules.Load()
	}
	return nil
}

// Pending returns the rules of origins whose file was never fetched. Their Outcome
// is Pending.
func (p *Table) Pending() *judge.Rules { return p.pending }

// Key returns the origin under which p stores the rules of origin: the zero
// Origin if one file serves all origins, otherwise origin.
func (p *Table) Key(origin judge.Origin) judge.Origin {
	if p.source.PerOrigin() {
		return origin
	}
	return judge.Origin{}
}

// PerOrigin reports whether each origin has a file of its own.
func (p *Table) PerOrigin() bool { return p.source.PerOrigin() }

// account tells the Ceiling that an origin begins (1) or ceases (-1) to use rules, in
// force or as an earlier version, unless p was replaced or closed. rules may be nil. The
// caller holds p.mu.
func (p *Table) account(rules *judge.Rules, change int) {
	if rules != nil && !p.retired {
		p.cfg.Ceiling.use(rules, change)
	}
}

// droppedOf returns where the names of an origin are: clients can invent hosts,
// so these must not displace others.
func (p *Table) droppedOf(invented bool) *dropped {
	if invented {
		return &p.dropped[1]
	}
	return &p.dropped[0]
}

// pendingFor returns the rules of an origin that was not read yet, and whether it
// was evicted. Then they know the names in its last file. The caller holds p.mu.
func (p *Table) pendingFor(origin judge.Origin, invented bool) (rules *judge.Rules, evicted bool) {
	names := p.droppedOf(invented).take(origin)
	if names.Size() == 0 { // only some requests may have invented the host
		names = p.droppedOf(!invented).take(origin)
	}
	return p.pending.WithNames(names), names.Size() > 0
}

// keepNames keeps the names in the last file of an entry that is evicted. The
// caller holds p.mu.
func (p *Table) keepNames(e *entry) {
	last := cmp.Or(e.rules.Load(), e.pending)
	if !last.Content().IsVersion() { // a fetch that failed tells nothing
		last = e.pending
	}
	if names := last.Names(p.pending); names.Size() > 0 {
		p.droppedOf(e.invented.Load()).put(e.origin, names, maxDroppedSize)
	}
}
