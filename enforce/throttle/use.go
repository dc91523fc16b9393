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

// budget is the budget of a Use while a Memory decides on a request.
type budget struct {
	limits *Limits
	State
	use int // the index of the Use

	tag, hash uint64
	shard     *shard // locked; nil if the limits have only Visit-time lines, so that there is nothing to store
	dirty     bool   // the state must be stored
}

// earliest returns the first instant, now or later, at which every line of all
// budgets accepts a request, if no other request comes before. The verdict names
// the line that refuses a request now and, if several budgets refuse it, the one
// with the longest wait, which belongs to use.
func earliest(now int64, list []budget) (v verdict, use int) {
	v.at = now
	for i := range list {
		b := &list[i]
		if w := b.limits.earliest(now, &b.State); w.at > v.at || w.at == v.at && w.at > now && b.use < use {
			v, use = w, b.use
		}
	}
	for range maxSearch {
		from := v.at
		for i := range list {
			v.at = list[i].limits.earliest(v.at, &list[i].State).at
		}
		if v.at == from {
			break
		}
	}
	return v, use
}

// decide returns the result for a request that uses the budgets of list.
func decide(now int64, list []budget) Result {
	v, use := earliest(now, list)
	r := v.result(now)
	r.Use = use
	return r
}

// find returns the slot of b's key, and whether it has one.
func (b *budget) find() (slot, bool) {
	if b.shard == nil {
		return slot{}, false
	}
	return b.shard.find(b.tag, b.hash)
}

// load sets the state of b to what the Memory knows.
func (b *budget) load(now int64) {
	if b.shard == nil {
		b.State = b.limits.fresh(now)
	} else {
		_, _, b.dirty = b.shard.load(now, b.tag, b.hash, b.limits, &b.State)
	}
}

// store stores the states of the budgets that are dirty. A new key can move the
// others, but does not make the Memory forget one of the list.
func store(now int64, list []budget) {
	for i := range list {
		if b := &list[i]; b.dirty {
			place, found := b.find()
			if !found {
				place = b.shard.insert(b.tag, b.hash, now)
			}
			place.head.free[place.index] = pinned
		}
	}
	for i := range list {
		if b := &list[i]; b.dirty {
			place, _ := b.find()
			place.store(b.limits, &b.State)
		}
	}
}
