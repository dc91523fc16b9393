package suspect

import (
	"encoding/binary"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// A visitor takes at most 80 octets, and 9 in the table.
func TestSizeOfAVisitor(t *testing.T) {
	t.Parallel()
	if size := unsafe.Sizeof(record{}); size > 72 {
		t.Errorf("a visitor takes %d octets, and the table needs 8 more to find it", size)
	}
}

// A million clients, twice as many as the table has room for, each raise a signal. They
// need no more memory. A suspect that was found before them is still known afterwards,
// because clients with fewer signals are replaced first.
func TestManyAddresses(t *testing.T) { manyAddresses(t, 1_000_000) }

func BenchmarkTenMillionAddresses(b *testing.B) {
	for b.Loop() {
		manyAddresses(b, 10_000_000)
	}
}

func manyAddresses(t testing.TB, n uint32) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w := NewWatch(Config{})
	v := visitorAt(t, w)
	v.send("/robots.txt", nil)
	v.send("/trap/x", hit(MintedHit))
	r := Request{Site: "example.com", Target: "/trap/x", UserAgent: chrome, Header: make(http.Header), Secure: true, Trap: StaticHit, Time: v.now}
	for i := range n {
		var a [4]byte
		binary.BigEndian.PutUint32(a[:], 0x0a000000+i)
		r.Client = netip.AddrFrom4(a)
		r.Time = v.now.Add(time.Duration(i) * 100 * time.Microsecond)
		w.See(&r, time.Hour)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 45<<20 {
		t.Errorf("%d addresses take %d octets", n, grown)
	}
	v.now = r.Time
	if !v.send("/", nil).Suspect {
		t.Error("the suspect is forgotten")
	}
}
