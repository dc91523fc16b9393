package origins

import "sync"

// Limits of a kept.
const (
	maxKept    = 10_000 // values
	keptSample = 8      // values that are compared when one is dropped
)

// kept has values that outlive the entries of a Table. It is bounded, and safe for
// concurrent use. The zero value is empty. A nil kept holds nothing.
type kept[K comparable, V interface{ Size() int64 }] struct {
	mu     sync.Mutex
	values map[K]V
	octets int64
}

// put keeps a value. If there are too many, or they take more than most octets, it drops
// others: of some, the largest, so that a host with large files does not displace many.
func (k *kept[K, V]) put(key K, value V, most int64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(key, value, most)
}

// add is put for a caller that holds k.mu.
func (k *kept[K, V]) add(key K, value V, most int64) {
	if k.values == nil {
		k.values = make(map[K]V)
	}
	k.drop(key)
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
		k.drop(largest)
	}
}

// get returns the value of a key.
func (k *kept[K, V]) get(key K) (value V, ok bool) {
	if k == nil {
		return value, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok = k.values[key]
	return value, ok
}

// take returns the value of a key, the zero value if there is none, and drops it.
func (k *kept[K, V]) take(key K) V {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.drop(key)
}

// drop is take for a caller that holds k.mu.
func (k *kept[K, V]) drop(key K) (value V) {
	value, ok := k.values[key]
	if ok {
		delete(k.values, key)
		k.octets -= value.Size()
	}
	return value
}

// Octets returns the octets of all values.
func (k *kept[K, V]) Octets() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.octets
}
