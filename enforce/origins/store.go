package origins

import (
	"cmp"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// store has the entries of all origins, and accounts for the memory of their rules.
type store struct {
	source   Source
	settings *judge.Compiled
	pending  *judge.Rules // the rules of origins whose file was never fetched
	cfg      Config
	table    *originTable

	mu      sync.Mutex // guards table, retired and changes of histories
	dropped [2]dropped // names in the files of evicted origins; the second one has the invented hosts
	retired bool       // the memory is no longer accounted for
}

type dropped = kept[judge.Origin, judge.Names]

const maxDroppedSize = 8 << 20 // octets of a dropped

func newStore(source Source, settings *judge.Compiled, cfg Config) *store {
	return &store{
		source: source, settings: settings, pending: settings.RulesOf(judge.Content{Outcome: judge.Pending}), cfg: cfg,
		table: newOriginTable(),
	}
}

// insert adds an entry to the table. The caller holds s.mu.
func (s *store) insert(e *entry) {
	s.table.insert(e)
	if !s.retired {
		s.cfg.Ceiling.add(entrySize)
	}
}

// entrySize is what an origin takes besides its rules: the entry, its history,
// and their copies for the time after a reload, as BenchmarkHosts measures it.
const entrySize = 850

// Len returns the number of origins in s.
func (s *store) Len() int { return int(s.table.n.Load()) }

// All calls f for each origin that has rules.
func (s *store) All(f func(judge.Origin, *judge.Rules)) {
	for e := range s.table.all() {
		if rules := e.rules.Load(); rules != nil {
			f(e.origin, rules)
		}
	}
}

// RulesOf returns the rules in force for an origin, or nil if there are none. Unlike
// Peek, it starts no fetch.
func (s *store) RulesOf(origin judge.Origin) *judge.Rules {
	if e := s.table.find(s.Key(origin)); e != nil {
		return e.rules.Load()
	}
	return nil
}

// Pending returns the rules of origins whose file was never fetched. Their Outcome
// is Pending.
func (s *store) Pending() *judge.Rules { return s.pending }

// Key returns the origin under which p stores the rules of origin: the zero
// Origin if one file serves all origins, otherwise origin.
func (s *store) Key(origin judge.Origin) judge.Origin {
	if s.source.PerOrigin() {
		return origin
	}
	return judge.Origin{}
}

// PerOrigin reports whether each origin has a file of its own.
func (s *store) PerOrigin() bool { return s.source.PerOrigin() }

// account tells the Ceiling that an origin begins (1) or ceases (-1) to use rules, in
// force or as an earlier version, unless s was replaced or closed. rules may be nil. The
// caller holds s.mu.
func (s *store) account(rules *judge.Rules, change int) {
	if rules != nil && !s.retired {
		s.cfg.Ceiling.use(rules, change)
	}
}

// droppedOf returns where the names of an origin are: clients can invent hosts,
// so these must not displace others.
func (s *store) droppedOf(invented bool) *dropped {
	if invented {
		return &s.dropped[1]
	}
	return &s.dropped[0]
}

// pendingFor returns the rules of an origin that was not read yet, and whether it
// was evicted. Then they know the names in its last file. The caller holds s.mu.
func (s *store) pendingFor(origin judge.Origin, invented bool) (rules *judge.Rules, evicted bool) {
	names := s.droppedOf(invented).take(origin)
	if names.Size() == 0 { // only some requests may have invented the host
		names = s.droppedOf(!invented).take(origin)
	}
	return s.pending.WithNames(names), names.Size() > 0
}

// keepNames keeps the names in the last file of an entry that is evicted. The
// caller holds s.mu.
func (s *store) keepNames(e *entry) {
	last := cmp.Or(e.rules.Load(), e.pending)
	if !last.Content().IsVersion() { // a fetch that failed tells nothing
		last = e.pending
	}
	if names := last.Names(s.pending); names.Size() > 0 {
		s.droppedOf(e.invented.Load()).put(e.origin, names, maxDroppedSize)
	}
}
