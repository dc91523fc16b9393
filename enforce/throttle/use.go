package throttle

// MaxUses is how many budgets one request can use.
const MaxUses = 16

// maxSearch limits how often earliest asks all budgets for a later instant.
// Visit-time lines of several budgets can be such that no instant suits all.
const maxSearch = 1000

// Use is a budget that a request uses, and the limits on it. Nil Limits accept
// every request, and use nothing.
type Use struct {
	Key    Key
	Limits *Limits
}

// budget is the budget of a Use while a Memory or a Fleet decides on a request.
type budget struct {
	limits *Limits
	arrivals
	use   int  // the index of the Use
	known bool // the Memory has a state of the budget
	dirty bool // the Memory must store the state
	tag   uint64
	hash  uint64
	shard *shard // nil if the limits have only Visit-time lines, so that there is nothing to store
	slot  slot   // if known, and while the shard is locked
	since int64  // for the script; see take.lua
}

// earliest returns the first instant, now or later, at which every line of all
// budgets accepts a request, if no other request comes before. The verdict names
// the line that refuses a request now and, if several budgets refuse it, the one
// with the longest wait.
func earliest(now int64, list []budget) verdict {
	v := verdict{at: now}
	for i := range list {
		b := &list[i]
		w := b.limits.earliest(now, &b.arrivals)
		if w.at > v.at || w.at == v.at && w.at > now && b.use < v.use {
			v, v.use = w, b.use
		}
	}
	for range maxSearch {
		from := v.at
		if len(list) > 1 {
			for i := range list {
				v.at = list[i].limits.earliest(v.at, &list[i].arrivals).at
			}
		}
		if v.at == from {
			break
		}
	}
	return v
}

// load sets the state of b to what the Memory knows. If that comes from a clock
// that was set back since, b is dirty.
func (b *budget) load(now int64) {
	b.known = false
	if b.shard != nil {
		b.slot, b.known = b.shard.find(b.tag, b.hash)
	}
	if !b.known {
		b.arrivals = b.limits.fresh(now)
		return
	}
	b.slot.load(b.limits, &b.arrivals)
	if b.sig != b.limits.sig {
		p := b.limits.part.Load()
		b.alone = p != nil && p.limits.sig == b.sig
		b.limits.convert(&b.arrivals)
	}
	b.dirty = b.limits.rewind(now, &b.arrivals)
}

// stagger loads b, and gives it part, the limits of one process that decides
// alone. If part has not been applied to the budget since a time, the first
// request is accepted only after a random part of the interval, so that not all
// processes accept one at the same time. What is used of the limits of all
// processes at that moment remains known.
func (b *budget) stagger(now, since int64, seed uint64, part *Limits) {
	l := b.limits
	b.load(now)
	if b.known && b.slot.entry.sig == part.sig && b.slot.entry.last >= since {
		b.limits = part
		b.load(now)
		return
	}
	a := arrivals{last: now, sig: part.sig}
	random := float64(mix(b.tag^seed+uint64(now), 0xd1342543de82ef95)>>11) / (1 << 53)
	gone := now - since
	for i := range part.limits[:part.n] {
		p := &part.limits[i]
		a.used = max(a.used, float32(b.tat[i]-now)/float32(p.interval))
		free := max(0, b.tat[i]-l.limits[i].tolerance-now)
		wait := int64(random * float64(p.interval-free))
		if since > 0 && wait > gone { // counted from the beginning of the outage
			wait -= gone
		}
		a.tat[i] = now + free + wait + p.tolerance
	}
	b.limits, b.arrivals, b.dirty = part, a, true
}

// store stores the states of the budgets that are dirty. A new key can move the
// others. It does not make the Memory forget another key of the list.
func store(now int64, list []budget) {
	for i := range list {
		b := &list[i]
		if !b.dirty {
			continue
		}
		if len(list) > 1 {
			b.slot, b.known = b.shard.find(b.tag, b.hash)
		}
		if !b.known {
			b.slot = b.shard.insert(b.tag, b.hash, now)
		}
		if len(list) == 1 {
			b.slot.store(b.limits, &b.arrivals)
			return
		}
		b.slot.head.free[b.slot.index] = pinned
	}
	for i := range list {
		if b := &list[i]; b.dirty {
			b.slot, _ = b.shard.find(b.tag, b.hash)
			b.slot.store(b.limits, &b.arrivals)
		}
	}
}
