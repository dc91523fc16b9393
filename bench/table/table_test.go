// Package table compares the bounded table of this plugin with libraries.
package table

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/maypok86/otter/v2"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

const size = 1 << 16

// value is what a table remembers of a client.
type value struct{ first, last, _ atomic.Int64 }

func worth(v *value) int64 { return v.last.Load() }

// tables have a function that returns the value of a key, adding it if there is
// none.
var tables = []struct {
	name string
	make func() func(key uint64) *value
}{
	{"internal/table", func() func(uint64) *value {
		t := table.New[value](size)
		return func(key uint64) *value { return t.Add(key, worth, nil) }
	}},
	{"golang-lru", func() func(uint64) *value {
		t, err := lru.New[uint64, *value](size)
		if err != nil {
			panic(err)
		}
		return func(key uint64) *value {
			if v, ok := t.Get(key); ok {
				return v
			}
			v := new(value)
			t.Add(key, v)
			return v
		}
	}},
	{"otter", func() func(uint64) *value {
		t := otter.Must(&otter.Options[uint64, *value]{MaximumSize: size})
		return func(key uint64) *value {
			if v, ok := t.GetIfPresent(key); ok {
				return v
			}
			v, _ := t.SetIfAbsent(key, new(value))
			return v
		}
	}},
}

// BenchmarkTables measures a key that all processors want, keys that are in the
// table, and keys that are new and displace others.
func BenchmarkTables(b *testing.B) {
	for _, t := range tables {
		for _, load := range []struct {
			name string
			keys uint64
		}{{"one key", 1}, {"known keys", size / 2}, {"new keys", 1 << 62}} {
			b.Run(load.name+"/"+t.name, func(b *testing.B) {
				of := t.make()
				keys := rand.New(rand.NewPCG(1, 2))
				for range min(load.keys, 2*size) {
					of(keys.Uint64())
				}
				known := make([]uint64, min(load.keys, size/2))
				keys = rand.New(rand.NewPCG(1, 2))
				for i := range known {
					known[i] = keys.Uint64()
				}
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					keys := rand.New(rand.NewPCG(rand.Uint64(), 4))
					for pb.Next() {
						key := keys.Uint64()
						if load.keys <= size {
							key = known[key%uint64(len(known))]
						}
						of(key).last.Store(1)
					}
				})
			})
		}
	}
}

// BenchmarkSize reports the octets of a key in a full table, and the share of the
// keys that a table keeps if it gets exactly as many as it has room for.
func BenchmarkSize(b *testing.B) {
	for _, t := range tables {
		b.Run(t.name, func(b *testing.B) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			of := t.make()
			keys := rand.New(rand.NewPCG(1, 2))
			for range size {
				of(keys.Uint64()).first.Store(1)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			keys = rand.New(rand.NewPCG(1, 2))
			kept := 0
			for range size {
				if of(keys.Uint64()).first.Load() == 1 {
					kept++
				}
			}
			for b.Loop() {
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/size, "octets/key")
			b.ReportMetric(float64(kept)*100/size, "%kept")
		})
	}
}
