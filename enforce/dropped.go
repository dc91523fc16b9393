package enforce

import (
	"cmp"
	"slices"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// dropped has the names in the files of evicted origins, so that a client that
// only a group with its name binds waits while the file is read again, like other
// crawlers. It takes at most maxDroppedSize octets. The caller holds Origins.mu.
type dropped struct {
	names  map[Origin]droppedNames
	octets int64
}

type droppedNames struct {
	matcher *crawler.Matcher
	rows    []int32 // crawlers of the registry
	octets  int64
}

const (
	maxDroppedSize = 8 << 20
	droppedSize    = 150 // octets for each origin, besides its names
)

// put keeps the names of an origin. If there are too many, it drops those of
// others, in no order.
func (d *dropped) put(origin Origin, names droppedNames) {
	if d.names == nil {
		d.names = make(map[Origin]droppedNames)
	}
	d.take(origin)
	d.names[origin] = names
	d.octets += names.octets
	for other := range d.names {
		if d.octets <= maxDroppedSize {
			return
		}
		d.take(other)
	}
}

// take returns the names of an origin, if there are some, and forgets them.
func (d *dropped) take(origin Origin) droppedNames {
	names := d.names[origin]
	delete(d.names, origin)
	d.octets -= names.octets
	return names
}

// droppedOf returns where the names of an origin are: clients can invent hosts,
// so these must not displace others.
func (p *Origins) droppedOf(invented bool) *dropped {
	if invented {
		return &p.dropped[1]
	}
	return &p.dropped[0]
}

// pendingFor returns the rules of an origin that was not read yet, and whether it
// was evicted. Then they know the names in its last file. The caller holds p.mu.
func (p *Origins) pendingFor(origin Origin, invented bool) (rules *Rules, evicted bool) {
	names := p.droppedOf(invented).take(origin)
	if names.octets == 0 { // only some requests may have invented the host
		names = p.droppedOf(!invented).take(origin)
	}
	switch {
	case names.octets == 0:
		return p.pending, false
	case names.matcher == p.pending.matcher && names.rows == nil:
		return p.pending, true
	}
	rules = p.pending.settings.newRules(Content{Outcome: Pending})
	known := *rules.document
	known.matcher, known.names = names.matcher, names.octets-droppedSize-4*int64(len(names.rows))
	rules.document, rules.named = &known, slices.Clone(rules.named)
	for _, row := range names.rows {
		rules.named = append(rules.named, namedPlan{row, namedBefore})
	}
	slices.SortFunc(rules.named, func(a, b namedPlan) int { return int(a.row - b.row) })
	return rules, true
}

// keepNames keeps the names in the last file of an entry that is evicted. The
// caller holds p.mu.
func (p *Origins) keepNames(e *entry) {
	last := cmp.Or(e.rules.Load(), e.pending)
	if !last.isVersion() { // a fetch that failed tells nothing
		last = e.pending
	}
	if last == p.pending {
		return // it was never read
	}
	names := droppedNames{matcher: last.matcher, octets: droppedSize}
	if last.matcher != p.pending.matcher {
		names.octets += last.names
	}
	for _, n := range last.named {
		if _, known := p.pending.find(n.row); !known {
			names.rows = append(names.rows, n.row)
			names.octets += 4
		}
	}
	p.droppedOf(e.invented.Load()).put(e.origin, names)
}
