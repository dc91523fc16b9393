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

// Each entry, the head of each bucket, and each site's count have their own cache
// line.
func TestSizesAreCacheLines(t *testing.T) {
	t.Parallel()
	var b bucket
	if unsafe.Sizeof(line{}) != lineSize || unsafe.Offsetof(b.entries) != lineSize || unsafe.Sizeof(b) != (ways+1)*lineSize || unsafe.Sizeof(siteCount{}) != lineSize {
		t.Errorf("an entry has %d octets, a bucket's head %d, a bucket %d, a site %d",
			unsafe.Sizeof(line{}), unsafe.Offsetof(b.entries), unsafe.Sizeof(b), unsafe.Sizeof(siteCount{}))
	}
	if at := uintptr(unsafe.Pointer(&newTable(DefaultEntries).buckets[0])); at%lineSize != 0 {
		t.Errorf("the table does not begin at a cache line: %x", at)
	}
}

// Ten million clients that each raise a signal need no more memory than the table
// has. A suspect that was found before them is still known afterwards, because
// clients with fewer signals are replaced first.
func TestTenMillionAddresses(t *testing.T) {
	n := uint32(10_000_000)
	if raceEnabled || testing.Short() {
		n = 200_000
		t.Logf("with the race detector or -short: %d addresses of 10,000,000; go test without them tries all", n)
	}
	w := NewWatch(Config{})
	v := visitorAt(t, w)
	v.send("/robots.txt", nil)
	v.send("/trap/x", hit(MintedHit))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
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
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("memory grew by %d octets for %d addresses", grown, n)
	}
	if size := unsafe.Sizeof(bucket{}) * uintptr(len(w.table.buckets)); size > 40<<20 {
		t.Errorf("the table takes %d octets", size)
	}
	v.now = r.Time
	if !v.send("/", nil).Suspect {
		t.Error("the suspect is forgotten")
	}
}
