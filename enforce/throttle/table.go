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
	free              uint32 // second since 1970 from which on nothing is used
	tat               [MaxLimits]uint32
}

// bucket holds eight keys. A tag of 0 is an empty place. The tags lie side by
// side, so that looking for a key touches one cache line.
type bucket struct {
	tags    [bucketSize]uint64
	records [bucketSize]record
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

// store fills r from a, which is under the terms t.
func (r *record) store(t *Terms, a *arrivals) {
	r.lastLow, r.lastHigh = uint32(a.last), uint32(uint64(a.last)>>32)
	r.used = math.Float32bits(a.used)
	r.sig = t.sig
	latest := a.last
	for i := range t.limits[:t.n] {
		tat := max(a.last, a.tat[i])
		r.tat[i] = uint32(tat >> t.limits[i].shift)
		latest = max(latest, tat)
	}
	r.free = second(latest + 999_999)
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

// find returns the record of a key, or nil.
func (t *table) find(tag, h uint64) *record {
	if len(t.buckets) == 0 {
		return nil
	}
	first, second := t.places(h)
	if r := first.find(tag); r != nil {
		return r
	}
	return second.find(tag)
}

func (b *bucket) find(tag uint64) *record {
	for i := range b.tags {
		if b.tags[i] == tag {
			return &b.records[i]
		}
	}
	return nil
}

// insert returns the record for a key that the table does not hold. Its
// content is left over from another.
func (t *table) insert(tag, h uint64, now int64) *record {
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
	bucket *bucket
	index  int
	cost   uint64
	room   int // number of empty or reusable places in the bucket
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
	p := place{bucket: b, cost: math.MaxUint64}
	for i, tag := range b.tags {
		cost := uint64(empty)
		if tag != 0 {
			cost = b.records[i].cost(tag, now)
		}
		if cost <= reusable {
			p.room++
		}
		if cost < p.cost {
			p.index, p.cost = i, cost
		}
	}
	return p
}

// cost returns what it costs to forget r, whose tag is given.
func (r *record) cost(tag uint64, now uint32) uint64 {
	switch {
	case r.free <= now:
		return reusable
	case tag&clientBit == 0:
		return precious + uint64(r.free)
	}
	return heldUntil + uint64(r.free)
}

func (t *table) put(p place, tag uint64) *record {
	switch p.cost {
	case empty:
		t.entries++
	case reusable:
	default:
		t.evictions++
	}
	p.bucket.tags[p.index] = tag
	return &p.bucket.records[p.index]
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
			if tag == 0 || buckets[i].records[j].free <= now {
				continue
			}
			p := t.choose(t.hash(tag), now)
			if p.cost > reusable && len(t.buckets) < t.limit {
				return false
			}
			*t.put(p, tag) = buckets[i].records[j]
		}
	}
	return true
}

// hash returns the hash of a key, which places it in a shard and in two of its
// buckets.
func (t *table) hash(tag uint64) uint64 { return hashTag(tag, t.seed) }

func hashTag(tag, seed uint64) uint64 { return mix(tag^seed, 0x9e3779b97f4a7c15) }
