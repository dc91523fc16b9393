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

// Ten million clients that each raise a signal need no more memory than the table
// has room for. A suspect that was found before them is still known afterwards, because
// clients with fewer signals are replaced first.
func TestTenMillionAddresses(t *testing.T) {
	n := uint32(10_000_000)
	if raceEnabled || testing.Short() {
		n = 200_000
		t.Logf("with the race detector or -short: %d addresses of 10,000,000; go test without them tries all", n)
	}
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
