package throttle

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
	"unsafe"
)

var hourly = Compile(Grant{Delay: delay(time.Hour)})

func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}

// memoryStats has the number of keys in a Memory, including unused ones that
// were not replaced yet, and the size of its tables in octets.
type memoryStats struct{ Entries, Bytes int }

func stats(m *Memory) (s memoryStats) {
	all := m.shards.Load()
	for i := range all.list {
		part := &all.list[i]
		part.mu.Lock()
		s.Entries += part.used
		s.Bytes += len(part.heads)*int(unsafe.Sizeof(head{})) + len(part.entries)*int(unsafe.Sizeof(entry{}))
		part.mu.Unlock()
	}
	return s
}

func TestSizeOfAKey(t *testing.T) {
	if size := unsafe.Sizeof(entry{}) + unsafe.Sizeof(head{})/bucketSize; size > 61 {
		t.Errorf("a key takes %d bytes, want 61 at most", size)
	}
	if size := unsafe.Sizeof(shard{}); size%128 != 0 {
		t.Errorf("a shard takes %d bytes, so two shards share a cache line", size)
	}
}

// A Memory never holds more keys than it was made for, and forgets none before
// it is full.
func TestMemorySizeIsLimited(t *testing.T) {
	for _, size := range []int{1, 100, 1000, 5000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			m, base := NewMemory(size), newKey("a")
			most := 0
			for i := range 4 * size {
				m.Take(t.Context(), noon, []Use{{base.Client(address(i)), hourly}})
				if i%max(1, size/16) != 0 {
					continue
				}
				if s := stats(m); s.Entries == i+1 { // it has forgotten none
					most = s.Entries
				}
			}
			s := stats(m)
			bound := size + len(m.shards.Load().list)*bucketSize + 2*bucketSize
			if s.Entries > bound || s.Bytes > bound*61 {
				t.Errorf("%d entries in %d bytes, want %d at most", s.Entries, s.Bytes, bound)
			}
			if size >= 1000 && most < size/2 {
				t.Errorf("forgot a key with only %d of %d entries", most, size)
			}
		})
	}
}

// New keys replace unused keys before the table grows.
func TestMemoryReusesUnusedKeys(t *testing.T) {
	m, base, now := NewMemory(1<<20), newKey("a"), noon
	for i := range 200_000 {
		m.Take(t.Context(), now, []Use{{base.Client(address(i)), hourly}})
		now = now.Add(10 * time.Second) // 324 keys per emission interval
	}
	for i := 200_000 - 300; i < 200_000; i++ {
		if m.State(now, Use{base.Client(address(i)), hourly}).Last == 0 {
			t.Fatalf("key %d was forgotten", i)
		}
	}
	if s := stats(m); s.Bytes > 61*50_000 {
		t.Errorf("%+v for 324 keys at a time", s)
	}
}

// The forgotten key is one that would be unused soon: the soonest of 16 random
// keys. Its mean rank is 1/17 of all keys, and it is rarely in the later half.
func TestMemoryForgetsTheKeyThatIsUnusedSoonest(t *testing.T) {
	const size = 16_384
	m := NewMemory(size)
	rnd := rand.New(rand.NewPCG(1, 1))
	terms := make([]*Limits, 1000)
	for i := range terms {
		terms[i] = Compile(Grant{Delay: delay(time.Hour + time.Duration(i)*time.Minute)})
	}
	type holder struct {
		key  Key
		rank int
	}
	var held []holder
	for i := range size * 3 / 4 {
		h := holder{newKey(fmt.Sprint(i)), rnd.IntN(len(terms))}
		held = append(held, h)
		m.Take(t.Context(), noon, []Use{{h.key, terms[h.rank]}})
	}
	if e := len(held) - stats(m).Entries; e > size/200 {
		t.Fatalf("%d forgotten in a table that is three quarters full", e)
	}
	for i := range size / 2 { // the longest delay, so that none of these keys is forgotten
		m.Take(t.Context(), noon, []Use{{newKey("new", fmt.Sprint(i)), Compile(Grant{Delay: delay(24 * time.Hour)})}})
	}
	gone, late, sum := 0, 0, 0
	for _, h := range held {
		tag := tagOf(&h.key)
		hash := hashTag(tag, m.seed)
		if _, found := m.shards.Load().of(hash).find(tag, hash); !found {
			gone++
			sum += h.rank
			if h.rank > 900 {
				late++
			}
		}
	}
	// A third of the old keys must be forgotten. With a choice among all keys,
	// these would be the ranks up to about 333 of 1000.
	if gone < size/5 || sum/gone > 300 || late > gone/100 {
		t.Errorf("%d forgotten, their mean rank %d of 1000, %d of them of the last tenth", gone, sum/max(gone, 1), late)
	}
}

// Many invented keys do not make a Memory forget those of crawlers.
func TestMemoryForgetsDisposableKeysFirst(t *testing.T) {
	m, clients := NewMemory(4096), newKey("libraries")
	var crawlers []Key
	for i := range 500 {
		crawlers = append(crawlers, newKey("crawler", fmt.Sprint(i)))
		m.Take(t.Context(), noon, []Use{{crawlers[i], hourly}})
	}
	now := noon
	for i := range 200_000 {
		now = now.Add(time.Millisecond)
		m.Take(t.Context(), now, []Use{{clients.Client(address(i)), hourly}})
	}
	for i, k := range crawlers {
		if r := m.Take(t.Context(), now, []Use{{k, hourly}}); r.OK {
			t.Errorf("crawler %d was forgotten", i)
		}
	}
}

// Take allocates nothing.
func TestTakeAllocatesNothing(t *testing.T) {
	m, base := NewMemory(1000), newKey("a")
	addr := address(1)
	m.Take(t.Context(), noon, []Use{{base.Client(addr), hourly}})
	one := []Use{{base.Client(addr), hourly}}
	for _, uses := range [][]Use{one, append(one, Use{base, hourly}, Use{base.Client(address(2)), nil})} {
		if n := testing.AllocsPerRun(100, func() { m.Take(t.Context(), noon, uses) }); n != 0 {
			t.Errorf("%v allocations for %d uses", n, len(uses))
		}
	}
}
