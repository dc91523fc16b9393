package throttle

import (
	"math"
	"math/bits"
)

// bucketSize is the number of keys in a bucket.
const bucketSize = 8

// table is a hash table in which each key can be in one of two buckets. The
// caller holds its lock.
//
// It is not an internal/table: there, a key would take 89 octets instead of 61
// (BenchmarkMemory), and each new key would be an allocation.
//
// In a large table, most of the time goes into fetching memory. So the data
// that searches and evictions need is small, and separate from the entries: a
// search reads two heads and then, nearly always, only the right entry.
type table struct {
	heads   []head
	entries []entry // bucketSize for each head
	limit   int     // largest number of buckets
	seed    uint64
	used    int // entries in use
}

// head has the data about a bucket that searches and evictions need.
type head struct {
	marks uint64             // an octet for each place: 0 if it is empty, otherwise a part of its key's hash
	free  [bucketSize]uint32 // see freeFrom
}

// entry is a key with its arrivals. It stores the low 32 bits of each arrival
// time, in units of the limit. Each arrival time is at most the limit's horizon
// after last, which is less than 2^32 units, so the low bits are enough.
type entry struct {
	tag  uint64
	last int64
	sig  uint32
	used float32
	tat  [MaxLimits]uint32
}

// slot is the place of a key.
type slot struct {
	head  *head
	entry *entry
	index int // in the bucket
}

// tagOf returns the part of k that a table stores.
func tagOf(k *Key) uint64 { return k[0]<<1 | k[1]&clientBit }

// hashTag returns the hash of a key. Its shard and its two buckets depend on
// the hash.
func hashTag(tag, seed uint64) uint64 { return mix(tag^seed, 0x9e3779b97f4a7c15) }

// load sets a to what is stored. The arrival times are set only if they belong
// to t.
func (s slot) load(t *Limits, a *State) {
	e := s.entry
	a.Last, a.Used, a.sig = e.last, e.used, e.sig
	if e.sig != t.sig {
		return
	}
	for i := range t.limits {
		shift := t.limits[i].shift
		base := e.last >> shift
		a.Arrivals[i] = (base + int64(e.tat[i]-uint32(base))) << shift
	}
}

// store stores a, which belongs to t.
func (s slot) store(t *Limits, a *State) {
	e := s.entry
	e.last, e.used, e.sig = a.Last, a.Used, t.sig
	free := a.Last
	for i := range t.limits {
		tat := max(a.Last, a.Arrivals[i])
		e.tat[i] = uint32(tat >> t.limits[i].shift)
		free = max(free, tat)
	}
	s.head.free[s.index] = freeFrom(free, e.tag)
}

// freeFrom returns the second since 1970 from which on the budget is unused,
// for that instant in microseconds. It rounds up to an even number, because the
// lowest bit says whether the key is Disposable.
func freeFrom(at int64, tag uint64) uint32 { return (second(at+999_999)+1)&^1 | uint32(tag&clientBit) }

// second returns the second since 1970 of an instant in microseconds.
func second(at int64) uint32 { return uint32(min(max(at/1_000_000, 0), math.MaxUint32)) }

// buckets returns the two buckets of a key. They are different unless there is
// only one.
func (t *table) buckets(h uint64) (first, second int) {
	n := uint64(len(t.heads))
	i := (h & math.MaxUint32) * n >> 32
	j := i + 1 + (mix(h, 0xd1342543de82ef95)&math.MaxUint32)*(n-1)>>32
	if j >= n {
		j -= n
	}
	return int(i), int(j)
}

// mark returns the mark of a key: a number from 1 to 255.
func mark(h uint64) uint64 { return max(1, h>>32&0xff) }

const eachByte = 0x0101010101010101

// find returns the slot of a key, and whether it has one.
func (t *table) find(tag, h uint64) (slot, bool) {
	if len(t.heads) == 0 {
		return slot{}, false
	}
	i, j := t.buckets(h)
	pattern := mark(h) * eachByte
	first, second := t.heads[i].marks^pattern, t.heads[j].marks^pattern
	if s, ok := t.match(i, first, tag); ok {
		return s, true
	}
	return t.match(j, second, tag)
}

// match looks for tag in the places of bucket i for which the octet of differ
// is 0. The bit arithmetic can also select a wrong place above such a place, so
// match compares the tags.
func (t *table) match(i int, differ, tag uint64) (slot, bool) {
	for zero := (differ - eachByte) &^ differ & (eachByte << 7); zero != 0; zero &= zero - 1 {
		k := bits.TrailingZeros64(zero) / 8
		if e := &t.entries[i*bucketSize+k]; e.tag == tag {
			return slot{&t.heads[i], e, k}, true
		}
	}
	return slot{}, false
}

// insert returns a slot for a key that is not in the table. The slot still has
// the data of another key.
func (t *table) insert(tag, h uint64, now int64) slot {
	nowSecond := second(now)
	for {
		if len(t.heads) > 0 {
			if p := t.choose(h, nowSecond); p.cost <= reusable || len(t.heads) >= t.limit {
				return t.put(p, tag, h)
			}
		}
		t.grow(nowSecond)
	}
}

// place is a place for a key.
type place struct {
	bucket, index int
	cost          uint64
	room          int // number of empty or reusable places in the bucket
}

// Costs of taking a place. It costs least if it is empty, then if its key is
// unused. Otherwise it costs the more, the later the key is unused, and most
// for keys that are not Disposable.
const (
	empty      = 0
	reusable   = 1
	disposable = 2
	durable    = 1 << 33
)

// pinned takes the place of freeFrom for keys that must not be forgotten now. A
// place is chosen among 2*bucketSize, which is more than a request's other keys.
const pinned = math.MaxUint32 &^ clientBit

// choose returns the place for a new key. It takes the bucket with more room,
// so that buckets fill evenly. If both are equal, it takes the place that costs
// least.
func (t *table) choose(h uint64, now uint32) place {
	first, second := t.buckets(h)
	p, q := t.cheapest(first, now), t.cheapest(second, now)
	if q.room > p.room || q.room == p.room && q.cost < p.cost {
		return q
	}
	return p
}

// cheapest returns the place in a bucket that costs least.
func (t *table) cheapest(bucket int, now uint32) place {
	p := place{bucket: bucket, cost: math.MaxUint64}
	for i := range bucketSize {
		cost := t.cost(bucket, i, now)
		if cost <= reusable {
			p.room++
		}
		if cost < p.cost {
			p.index, p.cost = i, cost
		}
	}
	return p
}

// cost returns the cost of taking a place.
func (t *table) cost(bucket, i int, now uint32) uint64 {
	h := &t.heads[bucket]
	switch {
	case h.marks>>(8*i)&0xff == 0:
		return empty
	case h.free[i] <= now:
		return reusable
	case h.free[i]&clientBit == 0:
		return durable + uint64(h.free[i])
	}
	return disposable + uint64(h.free[i])
}

func (t *table) put(p place, tag, h uint64) slot {
	if p.cost == empty {
		t.used++
	}
	head := &t.heads[p.bucket]
	head.marks = head.marks&^(0xff<<(8*p.index)) | mark(h)<<(8*p.index)
	e := &t.entries[p.bucket*bucketSize+p.index]
	e.tag = tag
	return slot{head, e, p.index}
}

// grow makes the table a quarter larger.
func (t *table) grow(now uint32) { t.resize(len(t.heads)+max(2, len(t.heads)/4), now) }

// resize gives the table size buckets, or more if the keys need them, up to its
// limit. It drops unused keys.
func (t *table) resize(size int, now uint32) {
	old := *t
	size = min(size, t.limit)
	t.heads, t.entries, t.used = make([]head, size), make([]entry, size*bucketSize), 0
	old.copyTo(func(uint64) *table { return t }, now)
}

// copyTo copies the keys that are in use, each to the table for its hash, and makes
// that larger if there is no room.
func (t *table) copyTo(tableFor func(h uint64) *table, now uint32) {
	for i := range t.heads {
		for j := range bucketSize {
			if t.cost(i, j, now) <= reusable {
				continue
			}
			to := tableFor(hashTag(t.entries[i*bucketSize+j].tag, t.seed))
			for !to.move(t, i, j, now) {
				to.grow(now)
			}
		}
	}
}

// move copies a key of old. If there is no room and t may grow, it returns
// false. If t may not grow, it drops the key that costs least, which may be
// this one.
func (t *table) move(old *table, bucket, i int, now uint32) bool {
	e := &old.entries[bucket*bucketSize+i]
	h := hashTag(e.tag, t.seed)
	p := t.choose(h, now)
	if p.cost > reusable {
		if len(t.heads) < t.limit {
			return false
		}
		if p.cost >= old.cost(bucket, i, now) {
			return true
		}
	}
	to := t.put(p, e.tag, h)
	*to.entry, to.head.free[to.index] = *e, old.heads[bucket].free[i]
	return true
}
