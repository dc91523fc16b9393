package challenge

import (
	"fmt"
	"testing"
	"time"
)

func TestStormIsHeldWithinHalfAMinute(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []int{2, 20, 200} {
		s := newSite(t, nil)
		if perSecond == 2 {
			s.storm(time.Minute, 2)
		}
		s.storm(30*time.Second, perSecond)
		if through, all := s.storm(10*time.Second, perSecond); through > 0 {
			t.Errorf("%d a second: %d of %d get through", perSecond, through, all)
		}
	}
}

func TestQuietSiteAsksNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(c *Config) { c.over = 600 })
	if through, all := s.storm(5*time.Minute, 9); through != all {
		t.Errorf("%d of %d get through", through, all)
	}
}

// A flash crowd: documents, and the files that they embed.
func TestFlashCrowdIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 2000 {
		if i%33 == 0 {
			s.now = s.now.Add(time.Second)
		}
		if _, v, _ := s.ask("GET", "/blame/a", address(i)); v != Go {
			t.Fatalf("visitor %d: %v", i, v)
		}
		if i >= 100 { // three seconds later
			for _, file := range []string{"/site.css", "/blame/lines.js"} {
				if _, v, _ := s.ask("GET", file, address(i-100), "Sec-Fetch-Dest", "style"); v != Go {
					t.Fatalf("file of visitor %d: %v", i, v)
				}
			}
		}
	}
}

// Loneliness ends with an embedded file within 20 seconds, and with nothing else.
func TestLonely(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what   string
		target string
		as     backend
		after  time.Duration
		lone   int
	}{
		{"a style sheet", "/a.css", backend{}, 3 * time.Second, 0},
		{"one that did not change", "/a.css", backend{status: 304, media: "none"}, 3 * time.Second, 0},
		{"one that is missing", "/a.css", backend{status: 404}, 3 * time.Second, 1},
		{"a page that is called so", "/a.css", backend{media: "text/html"}, 3 * time.Second, 1},
		{"a page that did not change", "/", backend{status: 304, media: "none"}, 3 * time.Second, 1},
		{"another page", "/", backend{}, 19 * time.Second, 1},
		{"an icon", "/favicon.ico", backend{}, time.Second, 1},
		{"a script just in time", "/a.js", backend{}, 19 * time.Second, 0},
		{"too late", "/a.css", backend{}, 20 * time.Second, 1},
		{"one more document", "/blame/b", backend{}, 5 * time.Second, 2},
	} {
		s := newSite(t, nil)
		s.ask("GET", "/blame/a", "192.0.2.1")
		s.now = s.now.Add(tt.after)
		s.askAnswered("GET", tt.target, "192.0.2.1", tt.as)
		s.now = s.now.Add(20 * time.Second)
		s.ask("GET", "/blame/a", "192.0.2.2")
		for storm := range s.check.Storms {
			if _, got, _ := storm.sum(uint32(s.now.Unix()), lonelyFor); got != tt.lone {
				t.Errorf("%s: %d lone, want %d", tt.what, got, tt.lone)
			}
		}
	}
}

func TestStormEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	if !s.isOn() {
		t.Fatal("the check is not on")
	}
	s.storm(6*time.Minute, 1) // as many as are allowed
	if !s.isOn() {
		t.Error("the check is off while half of the storm comes")
	}
	for range 30 {
		s.now = s.now.Add(10 * time.Second)
		if s.ask("GET", "/blame/x", address(int(s.now.Unix()))); s.now.Sub(noon) < 11*time.Minute && !s.isOn() {
			t.Errorf("off after %s", s.now.Sub(noon))
		}
	}
	s.now = s.now.Add(2 * time.Minute)
	if s.isOn() {
		t.Error("the check is on after the storm")
	}
}

// Where most visitors fetch no files here, all strangers' documents count.
func TestFilesElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 50 {
		s.ask("GET", "/", address(i<<8))
	}
	for range 40 {
		s.now = s.now.Add(time.Second)
		for i := range 4 { // everybody looks at two pages
			addr := address(int(s.now.Unix())*4 + i)
			s.ask("GET", "/blame/a", addr)
			s.ask("GET", "/", addr)
		}
	}
	if !s.isOn() {
		t.Error("the check is off")
	}
}

func TestBusyServer(t *testing.T) {
	t.Parallel()
	busy := false
	s := newSite(t, func(c *Config) { c.over, c.busy = 600, func() bool { return busy } })
	s.storm(time.Minute, 5)
	if s.isOn() {
		t.Fatal("the check is on below the number")
	}
	busy = true
	if s.storm(2*time.Second, 5); !s.isOn() {
		t.Error("the check is off while the server is busy with lone addresses")
	}
	s = newSite(t, func(c *Config) { c.busy = func() bool { return true } })
	if s.each(5*time.Minute, 1, func(second, _ int) string { return address(second / 10) }, "Accept", "text/html"); !s.isOn() {
		t.Error("the check is off while the server is busy with six addresses a minute")
	}
	s = newSite(t, func(c *Config) { c.busy = func() bool { return true } })
	for second := range 300 {
		s.now = s.now.Add(time.Second)
		if second%10 == 0 {
			s.ask("GET", "/blame/a", address(second))
		}
	}
	if s.isOn() {
		t.Error("the check is on for six pages a minute")
	}
}

// each lets clients come for a time, n of them each second, and returns whether the check went
// on. from returns the address of client i of a second.
func (s *site) each(d time.Duration, n int, from func(second, i int) string, fields ...string) (on bool) {
	s.t.Helper()
	for second := range int(d / time.Second) {
		s.now = s.now.Add(time.Second)
		for i := range n {
			if _, v, _ := s.ask("GET", "/blame/a", from(second, i), fields...); v != Go {
				on = true
			}
		}
	}
	return on
}

// An address counts at most twenty pages a minute, and then as a lone one, whatever it fetches.
// An IPv6 /48 is one address.
func TestWhatAnAddressCounts(t *testing.T) {
	t.Parallel()
	v6 := func(_, i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }
	for _, tt := range []struct {
		what   string
		second int
		from   func(second, i int) string
		embeds bool
		want   bool
	}{
		{"three addresses at full speed", 30, func(_, i int) string { return address(i % 3) }, false, false},
		{"four addresses at full speed", 40, func(_, i int) string { return address(i % 4) }, false, true},
		{"four that fetch style sheets", 40, func(_, i int) string { return address(i % 4) }, true, true},
		{"four that fetch style sheets, at thirty a minute", 2, func(second, i int) string { return address((2*second + i) % 4) }, true, true},
		{"fifty /64s of one /48 at 60 a minute", 50, v6, false, false},
		{"four /48s", 4, func(_, i int) string { return fmt.Sprintf("2001:db8:%x::1", i) }, false, true},
		{"an office of forty people at one address", 1, func(int, int) string { return address(1) }, true, false},
		{"forty people at their pace, with style sheets", 40, func(second, i int) string {
			return address(second/20*40 + i)
		}, true, true},
		{"one lone page a minute", 1, func(second, _ int) string { return address(second / 60) }, false, false},
	} {
		s := newSite(t, nil)
		if tt.embeds {
			for i := range 1 << 8 {
				s.ask("GET", "/a.css", address(i))
			}
		}
		if got := s.each(3*time.Minute, tt.second, tt.from); got != tt.want {
			t.Errorf("%s: on: %v", tt.what, got)
		}
	}
}

// Four addresses begin a storm and two keep it, also after the clock was set back.
func TestFewAddressesKeepAStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	come := func(addresses int) {
		for i := range 20 * addresses {
			s.ask("GET", "/blame/a", address(i%addresses))
		}
	}
	come(4)
	s.now = s.now.Add(lonelyFor * time.Second)
	if !s.isOn() {
		t.Error("80 pages of four addresses begin none")
	}
	for n := range 60 {
		s.now = s.now.Add(time.Minute)
		if n == 30 {
			s.now = s.now.Add(-2 * time.Hour)
			come(4)
		}
		come(2)
		s.now = s.now.Add(lonelyFor * time.Second)
		if !s.isOn() {
			t.Fatalf("off after %d minutes", n)
		}
	}
	for storm := range s.check.Storms {
		if n := storm.addresses.Load(); n > 4+1 { // and that of isOn
			t.Errorf("%d addresses", n)
		}
	}
}

// Where most pages are people's, some programs are no storm.
func TestProgramsAmongPeople(t *testing.T) {
	t.Parallel()
	for _, programs := range []int{2, 20} { // in a second
		s := newSite(t, nil)
		for second := range 120 {
			s.now = s.now.Add(time.Second)
			for i := range 3 * programs {
				addr := address(second*100 + i)
				if i%3 != 0 {
					s.ask("GET", "/a.css", addr)
				}
				s.ask("GET", "/blame/a", addr)
			}
			if s.isOn() {
				t.Fatalf("%d a second: on after %d seconds", programs, second)
			}
		}
	}
}

// What a later step refuses was no page.
func TestRefusedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 200 {
		x := s.request("GET", "/blame/a", address(i))
		s.check.decide(x)
		s.check.End(x)
	}
	s.now = s.now.Add(lonelyFor * time.Second)
	if s.isOn() {
		t.Error("on")
	}
}

// Requests that got no page hide none.
func TestWhatIsNoPageHidesNone(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for i := range 100 {
		for range 2 * mostPages {
			s.askAnswered("GET", "/blame/none", address(i), backend{status: 404})
		}
		s.ask("GET", "/blame/a", address(i))
	}
	s.now = s.now.Add(lonelyFor * time.Second)
	if !s.isOn() {
		t.Error("off")
	}
}

// Very many addresses that were never seen before count at once: a burst of seconds gets
// little. A crowd that fetches what pages embed does not.
func TestBurstOfNewAddresses(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	through := 0
	for second := range 20 {
		s.now = s.now.Add(time.Second)
		for i := range 500 {
			if _, v, _ := s.ask("GET", "/blame/a", address(second*500+i)); v == Go {
				through++
			}
		}
	}
	if through > 2000 {
		t.Errorf("%d of 10,000 pages in a burst of 20 seconds", through)
	}
	s = newSite(t, nil)
	for second := range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 200 {
			s.ask("GET", "/blame/a", address(second*200+i))
		}
		for i := range 200 { // a second later
			if second > 0 {
				s.ask("GET", "/a.css", address((second-1)*200+i))
			}
		}
	}
	if s.isOn() {
		t.Error("a crowd of 200 people a second is asked")
	}
}

// While the check is on no page leaves, and yet it stays on, without a gap.
func TestStormOfHalfAnHour(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(time.Minute, 10)
	for minute := range 30 {
		if through, all := s.storm(time.Minute, 2); through > 0 {
			t.Fatalf("minute %d: %d of %d get through", minute, through, all)
		}
	}
}

// Passes hide no storm, nor do machines with many requests.
func TestOneClientHidesNoStorm(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	var cookies []string
	for i := range 10 {
		cookies = append(cookies, s.pass(fmt.Sprintf("192.0.2.%d", i)))
	}
	s.now = s.now.Add(time.Hour) // the check is off again
	s.ask("GET", "/a.css", "192.0.2.3")
	for range 60 {
		s.now = s.now.Add(time.Second)
		for i := range 20 {
			s.ask("GET", "/blame/a", address(int(s.now.Unix())*20+i))
		}
		for i := range 100 {
			s.ask("GET", "/blame/b", "192.0.2.3")
			s.ask("GET", "/blame/c", "192.0.2.1", "Cookie", cookies[i%10])
		}
	}
	if !s.isOn() {
		t.Error("the check is off")
	}
}

// Who has a pass is not asked before keys were looked for.
func TestBeforeTheKeys(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	s.memory.keysFailed.Store(nil)
	if s.isOn() {
		t.Error("on before keys were looked for")
	}
}
