package suspect

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// recorder is an Observer that keeps what it receives.
type recorder struct {
	mu       sync.Mutex
	raised   []Signal
	suspects []*Suspect
}

func (o *recorder) Raised(s Signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.raised = append(o.raised, s)
}

func (o *recorder) Suspected(s *Suspect) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.suspects = append(o.suspects, s)
}

func TestSuspects(t *testing.T) {
	t.Parallel()
	o := new(recorder)
	w := NewWatch(Config{Entries: 1000, Observer: o})
	for i := range 5 {
		v := visitorAt(t, w)
		v.now = v.now.Add(time.Duration(i) * time.Minute)
		v.r.Client = netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})
		v.send("/robots.txt", nil)
		v.send("/trap/x", hit(StaticHit))
		v.send("/trap/y", hit(StaticHit))
	}
	if len(o.suspects) != 5 || len(o.raised) != 15 {
		t.Errorf("the observer received %d suspects and %d signals, want 5 and 15", len(o.suspects), len(o.raised))
	}
	v := visitorAt(t, w)
	got := w.Suspects(v.now.Add(10*time.Minute), 3)
	if len(got) != 3 {
		t.Fatalf("%d suspects are listed, want 3", len(got))
	}
	last := got[0]
	if last.Site != "example.com" || last.Network.String() != "203.0.113.0/24" || last.Browser != (Browser{"Chrome", 131, 131}) || last.Fields ||
		last.Documents != 2 || !last.Since.Equal(v.now.Add(4*time.Minute)) || !last.Until.Equal(v.now.Add(64*time.Minute)) ||
		fmt.Sprint(last.Signals) != fmt.Sprintf("[{robots_txt 1 %s} {trap_static 2 %[1]s}]", v.now.Add(4*time.Minute).Local()) {
		t.Errorf("%+v", last)
	}
	if got := w.Suspects(v.now.Add(62*time.Minute), 100); len(got) != 2 {
		t.Errorf("%d suspects are listed, want 2: the suspicion of three has ended", len(got))
	}
	again := visitorAt(t, w)
	again.now = v.now.Add(3 * time.Hour)
	again.r.Client = netip.AddrFrom4([4]byte{203, 0, 113, 1})
	again.send("/trap/z", hit(StaticHit))
	if got := w.Suspects(again.now, 100); len(got) != 1 || got[0].Signals[1].Count != 3 || !got[0].Since.Equal(again.now) {
		t.Errorf("a client that became a suspect again: %+v", got)
	}
}

// When the list is full, a new suspect replaces the oldest one.
func TestListOfSuspectsIsBounded(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{Entries: 40_000})
	v := visitorAt(t, w)
	for i := range maxSuspects + 10 {
		v.r.Client = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		v.send("/robots.txt", nil)
		v.send("/trap/x", hit(StaticHit))
	}
	if got := len(w.Suspects(v.now, 1<<20)); got > maxSuspects || got < maxSuspects-10 {
		t.Errorf("%d suspects are listed, want at most %d", got, maxSuspects)
	}
	if !v.send("/", nil).Suspect {
		t.Error("the last client is no suspect")
	}
}
