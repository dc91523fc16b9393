package throttle

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
	"unsafe"
)

var hourly = Compile(Grant{Delay: delay(time.Hour)}, Options{})

func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)})
}

// memoryStats is the state of a Memory: the number of keys held, those
// included that are free again and have not been replaced, the size of the
// tables, and the number of keys forgotten while they were not free.
type memoryStats struct{ Entries, Bytes, Evictions int }

func stats(m *Memory) (s memoryStats) {
	all := m.shards.Load()
	for i := range all.list {
		part := &all.list[i]
		part.mu.Lock()
		s.Entries += part.used
		s.Bytes += len(part.heads)*int(unsafe.Sizeof(head{})) + len(part.entries)*int(unsafe.Sizeof(entry{}))
		s.Evictions += int(part.evictions)
		part.mu.Unlock()
	}
	return s
}

func TestSizeOfAKey(t *testing.T) {
	if size := unsafe.Sizeof(entry{}) + unsafe.Sizeof(head{})/bucketSize; size > 61 {
		t.Errorf("a key takes %d bytes, want 61 at most", size)
	}
	if size := unsafe.Sizeof(shard{}); size%128 != 0 {
		t.Errorf("a shard takes %d bytes: two share a cache line", size)
	}
}

// A Memory never holds more than it was made for, and fills up before it
// forgets anything.
func TestMemoryIsBounded(t *testing.T) {
	for _, size := range []int{1, 100, 1000, 5000, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			m, base := NewMemory(size), NewKey("a")
			most := 0
			for i := range 4 * size {
				m.Take(t.Context(), noon, base.Client(address(i)), hourly, 0)
				if i%max(1, size/16) != 0 {
					continue
				}
				if s := stats(m); s.Evictions == 0 {
					most = s.Entries
					if s.Entries != i+1 {
						t.Fatalf("%d entries after %d keys", s.Entries, i+1)
					}
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

// Keys that are free give way to new ones before the table grows.
func TestMemoryReusesWhatIsFree(t *testing.T) {
	m, base, now := NewMemory(1<<20), NewKey("a"), noon
	for i := range 200_000 {
		m.Take(t.Context(), now, base.Client(address(i)), hourly, 0)
		now = now.Add(10 * time.Second) // 324 keys an emission interval
	}
	if s := stats(m); s.Bytes > 61*50_000 || s.Evictions > 0 {
		t.Errorf("%+v for 324 keys at a time", s)
	}
}

// The key that is forgotten is one that would be free soon: the soonest of 16
// at random, which is the mean 1/17 of all keys, and rarely in the later half.
func TestEvictsWhatIsFreeSoonest(t *testing.T) {
	const size = 16_384
	m := NewMemory(size)
	rnd := rand.New(rand.NewPCG(1, 1))
	terms := make([]*Terms, 1000)
	for i := range terms {
		terms[i] = Compile(Grant{Delay: delay(time.Hour + time.Duration(i)*time.Minute)}, Options{})
	}
	type holder struct {
		key  Key
		rank int
	}
	var held []holder
	for i := range size * 3 / 4 {
		h := holder{NewKey(fmt.Sprint(i)), rnd.IntN(len(terms))}
		held = append(held, h)
		m.Take(t.Context(), noon, h.key, terms[h.rank], 0)
	}
	if e := stats(m).Evictions; e > size/200 {
		t.Fatalf("%d evictions in a table that is three quarters full", e)
	}
	for i := range size / 2 { // the longest of all, so that none of these goes
		m.Take(t.Context(), noon, NewKey("new", fmt.Sprint(i)), Compile(Grant{Delay: delay(24 * time.Hour)}, Options{}), 0)
	}
	gone, late, sum := 0, 0, 0
	for _, h := range held {
		tag := tagOf(h.key)
		hash := hashTag(tag, m.seed)
		all := m.shards.Load()
		if _, found := all.list[hash>>all.shift].find(tag, hash); !found {
			gone++
			sum += h.rank
			if h.rank > 900 {
				late++
			}
		}
	}
	// A third of the old keys has to go, so the ranks up to about 333 of 1000
	// would, were the choice made among all.
	if gone < size/5 || sum/gone > 300 || late > gone/100 {
		t.Errorf("%d forgotten, their mean rank %d of 1000, %d of them of the last tenth", gone, sum/max(gone, 1), late)
	}
}

// A flood of made-up keys does not make a Memory forget the crawlers.
func TestFloodForgetsDisposableKeysFirst(t *testing.T) {
	m, clients := NewMemory(4096), NewKey("libraries")
	var crawlers []Key
	for i := range 500 {
		crawlers = append(crawlers, NewKey("crawler", fmt.Sprint(i)))
		m.Take(t.Context(), noon, crawlers[i], hourly, 0)
	}
	now := noon
	for i := range 200_000 {
		now = now.Add(time.Millisecond)
		m.Take(t.Context(), now, clients.Client(address(i)), hourly, 0)
	}
	for i, k := range crawlers {
		if r := m.Take(t.Context(), now, k, hourly, 0); r.OK {
			t.Errorf("crawler %d was forgotten", i)
		}
	}
}

// Ten million client addresses in one run: memory stays bounded, and the
// budget of a polite crawler among them is right throughout. (Under the race
// detector it is one million.)
func TestTenMillionAddresses(t *testing.T) {
	const addresses, size = 10_000_000 / raceFactor, 100_000
	m, clients, polite := NewMemory(size), NewKey("libraries"), NewKey("polite")
	terms := Compile(Grant{Delay: delay(10 * time.Second)}, Options{})
	now, last := noon, noon.Add(-time.Hour)
	for i := range addresses {
		now = now.Add(10 * time.Microsecond)
		m.Take(t.Context(), now, clients.Client(address(i*7919)), terms, 0)
		if i%4096 != 0 {
			continue
		}
		switch since := now.Sub(last); {
		case since >= 10*time.Second:
			if r := m.Take(t.Context(), now, polite, terms, 0); !r.OK {
				t.Fatalf("after %d addresses a polite crawler got %+v", i, r)
			}
			last = now
		case since < 4*time.Second:
			if r := m.Take(t.Context(), now, polite, terms, 0); r.OK {
				t.Fatalf("after %d addresses a crawler's budget was forgotten", i)
			}
		}
	}
	s := stats(m)
	t.Logf("%d addresses: %+v", addresses, s)
	if s.Entries > size+len(m.shards.Load().list)*bucketSize {
		t.Errorf("%+v, want %d entries at most", s, size)
	}
}

// The /64 of an IPv6 client and the whole address of an IPv4 client count.
func TestClientKey(t *testing.T) {
	k := NewKey("a")
	tests := []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
		{"0.0.0.1", "::1", false},
	}
	for _, test := range tests {
		a, b := k.Client(netip.MustParseAddr(test.a)), k.Client(netip.MustParseAddr(test.b))
		if (a == b) != test.same {
			t.Errorf("clients %s and %s: %v, %v", test.a, test.b, a, b)
		}
		if a == k || a != a.Disposable() {
			t.Errorf("client %s: %v of %v", test.a, a, k)
		}
	}
}

// A key is the same in every process: SHA-256 over the parts, each after its
// length in 64 bits.
func TestKeyIsStable(t *testing.T) {
	if got, want := NewKey("https://example.com:443", "gptbot"), (Key{0x898dce59ffc7cb1a, 0x35f9db622bc7adc2}); got != want {
		t.Errorf("NewKey = %#x, want %#x", got, want)
	}
	if got, want := (Key{1, 2}).Client(address(1)), (Key{0x33124184f106413d, 0x7703ade8209a514f}); got != want {
		t.Errorf("Client = %#x, want %#x", got, want)
	}
}

func TestKeysDiffer(t *testing.T) {
	keys := []Key{NewKey(), NewKey(""), NewKey("", ""), NewKey("a", "bc"), NewKey("ab", "c"), NewKey("abc"), NewKey("a", "b", "c")}
	slices.SortFunc(keys, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	if n := len(keys); len(slices.Compact(keys)) != n {
		t.Errorf("keys of different parts are the same: %v", keys)
	}
	seen := make(map[Key]bool)
	base := NewKey("a")
	for i := range 1_000_000 {
		seen[base.Client(address(i))] = true
	}
	if len(seen) != 1_000_000 {
		t.Errorf("%d keys for a million addresses", len(seen))
	}
}

// The request path allocates nothing.
func TestTakeAllocatesNothing(t *testing.T) {
	m, base := NewMemory(1000), NewKey("a")
	addr := address(1)
	m.Take(t.Context(), noon, base.Client(addr), hourly, 0)
	if n := testing.AllocsPerRun(100, func() { m.Take(t.Context(), noon, base.Client(addr), hourly, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
