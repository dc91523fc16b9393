package table

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

func value(v *atomic.Int64) int64 { return v.Load() }

func TestTableKeepsItsSize(t *testing.T) {
	for _, size := range []int{0, 1, 7, 8, 100, 1000} {
		table := New[atomic.Int64](size)
		for range 10 * size {
			table.Add(rand.Uint64(), value, nil)
		}
		n := 0
		for range table.All() {
			n++
		}
		if n < size || n >= size+ways {
			t.Errorf("New(%d) has %d keys after many more, want %d to %d", size, n, size, size+ways-1)
		}
	}
}

func TestAddDisplacesTheLowestWorth(t *testing.T) {
	table := New[atomic.Int64](ways)                      // one set
	hash := func(i int) uint64 { return uint64(i) * 256 } // all with the same mark
	for i := range ways {
		table.Add(hash(i), value, func(v *atomic.Int64) { v.Store(int64((i + 3) % ways)) })
	}
	for i := range ways {
		if v := table.Get(hash(i)); v == nil || v.Load() != int64((i+3)%ways) {
			t.Fatalf("key %d: %v", i, v)
		}
	}
	table.Add(hash(ways), value, func(v *atomic.Int64) { v.Store(100) })
	for i := range ways + 1 {
		if v, kept := table.Get(hash(i)), i != ways-3; (v != nil) != kept {
			t.Errorf("key %d is kept: %v, want %v", i, v != nil, kept)
		}
	}
	if v := table.Add(hash(0), value, func(*atomic.Int64) { t.Error("a known key is created") }); v.Load() != 3 {
		t.Errorf("a known key: %d", v.Load())
	}
}

// A large table has memory in proportion to its keys, and loses none while it grows.
func TestLargeTablesGrow(t *testing.T) {
	table := New[atomic.Int64](1 << 16)
	keys := rand.New(rand.NewPCG(3, 4))
	sizes := []int{}
	for i := range int64(1 << 13) {
		table.Add(keys.Uint64(), value, func(v *atomic.Int64) { v.Store(i) })
		if n := len(*table.sets.Load()) * ways; len(sizes) == 0 || n != sizes[len(sizes)-1] {
			sizes = append(sizes, n)
		}
	}
	keys = rand.New(rand.NewPCG(3, 4))
	for i := range int64(1 << 13) {
		if v := table.Get(keys.Uint64()); v == nil || v.Load() != i {
			t.Fatalf("key %d: %v", i, v)
		}
	}
	if len(sizes) != 3 || sizes[0] > 1<<11 || sizes[2] < 1<<16 {
		t.Errorf("places: %d, want 3 sizes from 1/64 of 65536 to 65536", sizes)
	}
}

// Whoever adds a key at the same time gets the same value.
func TestConcurrentUse(t *testing.T) {
	table := New[atomic.Int64](1 << 12)
	var created atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			keys := rand.New(rand.NewPCG(1, 2))
			for range 1000 {
				key := keys.Uint64()
				table.Add(key, value, func(*atomic.Int64) { created.Add(1) }).Add(1)
				if table.Get(key) == nil {
					t.Error("a key is gone")
				}
				table.Add(keys.Uint64(), value, nil)
				for range table.All() {
					break
				}
			}
		})
	}
	all.Wait()
	keys := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		if v := table.Get(keys.Uint64()); v == nil || v.Load() != 8 {
			t.Fatalf("a value was added by 8 goroutines: %v", v)
		}
		keys.Uint64()
	}
	if created.Load() != 1000 {
		t.Errorf("%d values were created for 1000 keys", created.Load())
	}
}

func TestHitsAllocateNothing(t *testing.T) {
	table := New[atomic.Int64](100)
	created := false
	n := testing.AllocsPerRun(100, func() {
		table.Add(7, value, func(*atomic.Int64) { created = true }).Add(1)
		table.Get(8)
	})
	if n != 0 || !created {
		t.Errorf("%v allocations, created: %v", n, created)
	}
}
