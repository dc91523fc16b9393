package throttle

import "math"

// bucketSize is the number of keys in a bucket.
const bucketSize = 8

// record is the stored form of arrivals. Arrival times are the low 32 bits of
// their value in the limit's unit: each lies between last and the limit's
// horizon after it, which is less than 2^32 units, so that nothing is lost.
type record struct {
	lastLow, lastHigh uint32
	sig               uint32
	used              uint32 // a float32
	tat               [MaxLimits]uint32
}

// bucket holds eight keys. A tag of 0 is an empty place. What a search looks
// at lies side by side, as each cache line of a large table costs more than
// all arithmetic.
type bucket struct {
	tags    [bucketSize]uint64
	free    [bucketSize]uint32 // second since 1970 from which on nothing is used
	records [bucketSize]record
}

// slot is the place of a key in a bucket.
type slot struct {
	*bucket
	index int
}

// load fills a with what is stored, under the terms t.
func (s slot) load(t *Terms, a *arrivals) { s.records[s.index].load(t, a) }

// store stores a, which is under the terms t.
func (s slot) store(t *Terms, a *arrivals) {
	s.free[s.index] = second(s.records[s.index].store(t, a) + 999_999)
}

// table is a hash table in which each key has two buckets to be in. The
// caller holds its lock.
type table struct {
	buckets   []bucket
	limit     int // number of buckets that it may have
	seed      uint64
	entries   int
	evictions uint64
}

// tagOf returns the identity of k in a table. It is never 0.
func tagOf(k Key) uint64 {
	tag := k[0]<<1 | k[1]&clientBit
	if tag == 0 {
		return 2
	}
	return tag
}

// load fills a from r, under the terms t.
func (r *record) load(t *Terms, a *arrivals) {
	a.last = int64(uint64(r.lastHigh)<<32 | uint64(r.lastLow))
	a.used = math.Float32frombits(r.used)
	a.sig = r.sig
	if r.sig != t.sig {
		return
	}
	for i := range t.limits[:t.n] {
		shift := t.limits[i].shift
		base := a.last >> shift
		a.tat[i] = (base + int64(r.tat[i]-uint32(base))) << shift
	}
}

// store fills r from a, which is under the terms t, and returns the instant
// from which on nothing is used.
func (r *record) store(t *Terms, a *arrivals) (free int64) {
	r.lastLow, r.lastHigh = uint32(a.last), uint32(uint64(a.last)>>32)
	r.used = math.Float32bits(a.used)
	r.sig = t.sig
	free = a.last
	for i := range t.limits[:t.n] {
		tat := max(a.last, a.tat[i])
		r.tat[i] = uint32(tat >> t.limits[i].shift)
		free = max(free, tat)
	}
	return free
}

// second returns the second since 1970 of an instant in microseconds.
func second(at int64) uint32 {
	return uint32(min(max(at/1_000_000, 0), math.MaxUint32))
}

// places returns the two buckets of a key. They are the same only where there
// is but one.
func (t *table) places(h uint64) (first, second *bucket) {
	n := uint64(len(t.buckets))
	i := (h & math.MaxUint32) * n >> 32
	j := i + 1 + (mix(h, 0xd1342543de82ef95)&math.MaxUint32)*(n-1)>>32
	if j >= n {
		j -= n
	}
	return &t.buckets[i], &t.buckets[j]
}

// find returns the place of a key, and whether it has one. It looks into both
// buckets by turns, so that the memory of both is fetched at the same time.
func (t *table) find(tag, h uint64) (slot, bool) {
	if len(t.buckets) == 0 {
		return slot{}, false
	}
	first, second := t.places(h)
	for i := range first.tags {
		if first.tags[i] == tag {
			return slot{first, i}, true
		}
		if second.tags[i] == tag {
			return slot{second, i}, true
		}
	}
	return slot{}, false
}

// insert returns the place for a key that the table does not hold. What is
// there is left over from another.
func (t *table) insert(tag, h uint64, now int64) slot {
	today := second(now)
	for {
		if len(t.buckets) > 0 {
			p := t.choose(h, today)
			if p.cost <= reusable || len(t.buckets) >= t.limit {
				return t.put(p, tag)
			}
		}
		t.grow(today)
	}
}

// place is where a key may go.
type place struct {
	slot
	cost uint64
	room int // number of empty or reusable places in the bucket
}

// Costs of a place: an empty one, one whose key is free, and from there on
// the later a key is free the more, the highest for those that are not
// Disposable.
const (
	empty     = 0
	reusable  = 1
	heldUntil = 2
	precious  = 1 << 33
)

// choose returns the place for a key: in the emptier one of its two buckets,
// which fills the table most evenly, or else the place of the key that would
// be free soonest.
func (t *table) choose(h uint64, now uint32) place {
	first, second := t.places(h)
	p, q := first.cheapest(now), second.cheapest(now)
	if q.room > p.room || q.room == p.room && q.cost < p.cost {
		return q
	}
	return p
}

// cheapest returns the place of b whose use costs least.
func (b *bucket) cheapest(now uint32) place {
	p := place{slot: slot{bucket: b}, cost: math.MaxUint64}
	for i := range b.tags {
		cost := b.cost(i, now)
		if cost <= reusable {
			p.room++
		}
		if cost < p.cost {
			p.index, p.cost = i, cost
		}
	}
	return p
}

// cost returns what it costs to use the place i.
func (b *bucket) cost(i int, now uint32) uint64 {
	switch {
	case b.tags[i] == 0:
		return empty
	case b.free[i] <= now:
		return reusable
	case b.tags[i]&clientBit == 0:
		return precious + uint64(b.free[i])
	}
	return heldUntil + uint64(b.free[i])
}

func (t *table) put(p place, tag uint64) slot {
	switch p.cost {
	case empty:
		t.entries++
	case reusable:
	default:
		t.evictions++
	}
	p.tags[p.index] = tag
	return p.slot
}

// grow makes the table a quarter larger, or by as much as it takes for all
// its keys to find room, up to its limit. Keys that are free are left out.
func (t *table) grow(now uint32) {
	old := *t
	for size := len(old.buckets); ; {
		size = min(t.limit, size+max(2, size/4))
		t.buckets, t.entries, t.evictions = make([]bucket, size), 0, old.evictions
		if t.moveFrom(old.buckets, now) || size == t.limit {
			return
		}
	}
}

// moveFrom copies the keys of buckets that are not free. It stops and reports
// false where one of them finds no room and t may grow.
func (t *table) moveFrom(buckets []bucket, now uint32) bool {
	for i := range buckets {
		for j, tag := range buckets[i].tags {
			if tag == 0 || buckets[i].free[j] <= now {
				continue
			}
			p := t.choose(t.hash(tag), now)
			if p.cost > reusable && len(t.buckets) < t.limit {
				return false
			}
			to := t.put(p, tag)
			to.records[to.index], to.free[to.index] = buckets[i].records[j], buckets[i].free[j]
		}
	}
	return true
}

// hash returns the hash of a key, which places it in a shard and in two of its
// buckets.
func (t *table) hash(tag uint64) uint64 { return hashTag(tag, t.seed) }

func hashTag(tag, seed uint64) uint64 { return mix(tag^seed, 0x9e3779b97f4a7c15) }
