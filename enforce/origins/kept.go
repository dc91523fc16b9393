package origins

// Limits of a kept.
const (
	maxKept    = 10_000 // values
	keptSample = 8      // values that are compared when one is dropped
)

// kept has values that outlive the entries of a Table. It is bounded. The caller holds
// the lock. The zero value is empty.
type kept[K comparable, V interface{ Size() int64 }] struct {
	values map[K]V
	octets int64
}

// put keeps a value. If there are too many, or they take more than most octets, it drops
// others: of some, the largest, so that a host with large files does not displace many.
func (k *kept[K, V]) put(key K, value V, most int64) {
	if k.values == nil {
		k.values = make(map[K]V)
	}
	k.take(key)
	k.values[key] = value
	k.octets += value.Size()
	for len(k.values) > 1 && (len(k.values) > maxKept || k.octets > most) {
		var largest K
		size, seen := int64(-1), 0
		for other, v := range k.values {
			if n := v.Size(); other != key && n > size {
				largest, size = other, n
			}
			if seen++; seen > keptSample {
				break
			}
		}
		k.take(largest)
	}
}

// take returns the value of a key, the zero value if there is none, and drops it.
func (k *kept[K, V]) take(key K) (value V) {
	value, ok := k.values[key]
	if ok {
		delete(k.values, key)
		k.octets -= value.Size()
	}
	return value
}
