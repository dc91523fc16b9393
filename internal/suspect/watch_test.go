package suspect

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// A scraper without Sec-Fetch-* fields does not make other clients suspects: browsers
// at its address, other User-Agents, other addresses, and visitors of other sites.
func TestSuspectDoesNotAffectOtherClients(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	v.send("/trap/x", hit(StaticHit))
	if !v.send("/", nil).Suspect {
		t.Fatal("the scraper is no suspect")
	}
	if v.send("/", nil, clicked...).Suspect {
		t.Error("a browser at the same address is a suspect")
	}
	for name, change := range map[string]func(*Request){
		"another User-Agent": func(r *Request) { r.UserAgent = mozilla },
		"another address":    func(r *Request) { r.Client = netip.MustParseAddr("192.0.2.8") },
		"another site":       func(r *Request) { r.Site = "example.org" },
		"another port":       func(r *Request) { r.Port = 8443 },
		"a cookie":           func(r *Request) { r.Header.Set("Cookie", "a=b") },
		"plain HTTP":         func(r *Request) { r.Secure = false },
	} {
		if v.send("/", change).Suspect {
			t.Errorf("%s is a suspect", name)
		}
	}
}

// All addresses of an IPv6 /64 are one client.
func TestIPv6NetworkIsOneClient(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.r.Client = netip.MustParseAddr("2001:db8::1")
	v.send("/robots.txt", nil)
	v.r.Client = netip.MustParseAddr("2001:db8::2")
	if !v.send("/trap/x", hit(StaticHit)).Suspect {
		t.Error("two addresses of the same /64 are two clients")
	}
	v.r.Client = netip.MustParseAddr("2001:db8:0:1::1")
	if v.send("/", nil).Suspect {
		t.Error("two /64 networks are one client")
	}
	v.r.Client = netip.MustParseAddr("::ffff:192.0.2.7")
	v.send("/robots.txt", nil)
	v.r.Client = netip.MustParseAddr("192.0.2.7")
	if !v.send("/", nil).Signals.Has(RobotsTxt) {
		t.Error("an IPv4 address and its IPv6 form are two clients")
	}
	v.r.Client = netip.MustParseAddr("64:ff9b::192.0.2.7")
	if !v.send("/", nil).Signals.Has(RobotsTxt) {
		t.Error("an IPv4 address and its NAT64 form are two clients")
	}
	v.r.Client = netip.MustParseAddr("64:ff9b::192.0.2.8")
	if v.send("/", nil).Signals.Has(RobotsTxt) {
		t.Error("two clients behind NAT64 are one client")
	}
}

func TestSuspicionEndsAndSignalsExpire(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	v.now = v.now.Add(23 * time.Hour)
	if s := v.send("/trap/x", hit(StaticHit)); !s.Suspect || !s.Until.Equal(v.now.Add(time.Hour)) {
		t.Fatalf("after 23 hours: %+v", s)
	}
	v.now = v.now.Add(50 * time.Minute)
	if s := v.send("/trap/y", hit(StaticHit)); !s.Suspect || !s.Until.Equal(v.now.Add(time.Hour)) {
		t.Errorf("after a further signal: %+v, want a suspect for another hour", s)
	}
	v.now = v.now.Add(59 * time.Minute)
	if !v.send("/a", nil).Suspect {
		t.Error("no suspect after 59 minutes")
	}
	v.now = v.now.Add(time.Minute)
	if s := v.send("/b", nil); s.Suspect || s.Signals.Has(RobotsTxt) {
		t.Errorf("an hour after the last signal, and more than 24 hours after robots.txt: %+v", s)
	}
	v.now = v.now.Add(23*time.Hour + 2*time.Minute)
	if s := v.send("/c", nil); s.Signals != 0 {
		t.Errorf("after more than 24 hours: %+v", s)
	}
	v.send("/robots.txt", nil)
	v.now = v.now.Add(25 * time.Hour)
	if s := v.send("/c", nil); s.Signals != 0 {
		t.Errorf("after 25 hours without a request: %+v", s)
	}
	v.send("/robots.txt", nil)
	v.now = v.now.Add(-2 * time.Hour)
	if s := v.send("/trap/x", hit(StaticHit)); s.Suspect {
		t.Errorf("after the clock was set back: %+v", s)
	}
}

// Signals expire also if the visitor sends a request every minute.
func TestSignalsOfABusyVisitorExpire(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	for range 24*60 + 5 {
		v.now = v.now.Add(time.Minute)
		v.send("/", nil)
	}
	if s := v.send("/", nil); s.Signals != 0 {
		t.Errorf("after 24 hours: %+v, want no signals", s)
	}
}

func TestWatchIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	o := new(recorder)
	w := NewWatch(Config{Entries: 7, Observer: o}) // all in one bucket
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			v := visitorAt(t, w)
			v.r.Client = netip.AddrFrom4([4]byte{203, 0, 113, byte(i / 2)})
			for n := range 500 {
				v.send("/robots.txt", nil)
				v.send(fmt.Sprint("/trap/", n), hit(StaticHit))
				w.Suspects(v.now, 10)
				w.SetMarks([]Mark{{Signal: Pace, Time: v.now}})
			}
			if !v.send("/", nil).Suspect {
				t.Error("the visitor is no suspect")
			}
		})
	}
	all.Wait()
	if len(o.suspects) != 4 {
		t.Errorf("%d suspects were reported, want 4", len(o.suspects))
	}
}
