package suspect

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	chrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	mozilla = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
	oldFox  = "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0"
)

// visitor is somebody at a Watch, with a clock that tests move.
type visitor struct {
	t     *testing.T
	watch *Watch
	now   time.Time
	r     Request
}

func newVisitor(t *testing.T) *visitor {
	t.Helper()
	return visitorAt(t, NewWatch(Config{Entries: 7 << 6}))
}

func visitorAt(t *testing.T, w *Watch) *visitor {
	return &visitor{t, w, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		Request{Site: "example.com", Client: netip.MustParseAddr("192.0.2.7"), Connection: "192.0.2.7:50000", UserAgent: chrome, Secure: true}}
}

// send sends a request with fields, given as name and value.
func (v *visitor) send(target string, change func(*Request), fields ...string) Standing {
	r := v.r
	r.Target, r.Time, r.Header = target, v.now, make(http.Header)
	r.RobotsTxt = target == "/robots.txt"
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	if change != nil {
		change(&r)
	}
	return v.watch.See(&r, time.Hour)
}

// Fields of requests as Chromium sends them.
var (
	clicked = []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1"}
	typed   = []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document", "Sec-Fetch-User", "?1"}
	image   = []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"}
)

func hit(h Hit) func(*Request) { return func(r *Request) { r.Trap = h } }

// hurry asks for more pages than people do, and returns what was last said.
func (v *visitor) hurry(n int, fields ...string) (s Standing) {
	for i := range n {
		s = v.send(fmt.Sprintf("/page/%d", i), nil, fields...)
		v.now = v.now.Add(100 * time.Millisecond)
	}
	return s
}

func TestTwoIndependentSignalsOneOfThemStrong(t *testing.T) {
	t.Parallel()
	trap := func(h Hit) func(*visitor) {
		return func(v *visitor) { v.send("/trap/x"+fmt.Sprint(h), hit(h)) }
	}
	robots := func(v *visitor) { v.send("/robots.txt", nil) }
	pace := func(v *visitor) { v.hurry(60) }
	hints := func(v *visitor) { v.send("/", nil, "Sec-CH-UA", `"Chromium";v="99"`) }
	for name, tt := range map[string]struct {
		does []func(*visitor)
		want bool
		set  string
	}{
		"a minted trap alone":          {[]func(*visitor){trap(MintedHit)}, false, "trap"},
		"robots.txt alone":             {[]func(*visitor){robots}, false, "robots_txt"},
		"pace alone":                   {[]func(*visitor){pace}, false, "pace"},
		"robots.txt again":             {[]func(*visitor){robots, robots, robots}, false, "robots_txt"},
		"weak ones only":               {[]func(*visitor){hints, pace, trap(StaticHit)}, false, "trap_static,pace,client_hints"},
		"traps only":                   {[]func(*visitor){trap(StaticHit), trap(OtherHit), trap(MintedHit)}, false, "trap,trap_other,trap_static"},
		"robots.txt and a static trap": {[]func(*visitor){robots, trap(StaticHit)}, true, "robots_txt,trap_static"},
		"robots.txt and a foreign one": {[]func(*visitor){robots, trap(OtherHit)}, true, "robots_txt,trap_other"},
		"both strong ones":             {[]func(*visitor){trap(MintedHit), robots}, true, "trap,robots_txt"},
		"a minted trap and pace":       {[]func(*visitor){trap(MintedHit), pace}, true, "trap,pace"},
		"robots.txt and client hints":  {[]func(*visitor){hints, robots}, true, "robots_txt,client_hints"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisitor(t)
			for _, do := range tt.does {
				do(v)
			}
			got := v.send("/end", nil)
			if got.Suspect != tt.want || got.Signals.String() != tt.set {
				t.Errorf("suspect %t with %s, want %t with %s", got.Suspect, got.Signals, tt.want, tt.set)
			}
		})
	}
}

// Whatever a page of another site makes a browser do raises no signal: not even
// a URL that was minted for its user's address.
func TestWhatOthersCanCauseDoesNotCount(t *testing.T) {
	t.Parallel()
	fetch := func(site, mode, dest string, more ...string) []string {
		return append([]string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", dest}, more...)
	}
	for name, tt := range map[string]struct {
		fields []string
		change func(*Request)
	}{
		"an image":                    {fields: fetch("cross-site", "no-cors", "image")},
		"an image of the same site":   {fields: fetch("same-origin", "no-cors", "image")},
		"a link elsewhere":            {fields: fetch("cross-site", "navigate", "document", "Sec-Fetch-User", "?1")},
		"a link on a sister site":     {fields: fetch("same-site", "navigate", "document", "Sec-Fetch-User", "?1")},
		"a frame":                     {fields: fetch("same-origin", "navigate", "iframe")},
		"a script's fetch":            {fields: fetch("same-origin", "cors", "empty")},
		"a prefetch":                  {fields: fetch("same-origin", "no-cors", "document", "Sec-Purpose", "prefetch")},
		"a prerender":                 {fields: append(slices.Clone(clicked), "Sec-Purpose", "prefetch;prerender")},
		"an old prefetch":             {fields: append(slices.Clone(clicked), "Purpose", "prefetch")},
		"Firefox's old prefetch":      {fields: append(slices.Clone(clicked), "X-Moz", "prefetch")},
		"a form":                      {fields: clicked, change: func(r *Request) { r.Method = http.MethodPost }},
		"a cookie":                    {fields: []string{"Cookie", "a=b"}},
		"plain HTTP":                  {change: func(r *Request) { r.Secure = false }},
		"an unknown address":          {change: func(r *Request) { r.Client = netip.Addr{} }},
		"an old browser":              {change: func(r *Request) { r.UserAgent = oldFox }},
		"part of the fields, foreign": {fields: []string{"Sec-Fetch-Site", "cross-site"}},
		"the field twice":             {change: func(r *Request) { r.Header["Sec-Fetch-Site"] = []string{"same-origin", "cross-site"} }},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisitor(t)
			v.r.Trap = MintedHit
			for i := range 200 {
				if s := v.send(fmt.Sprintf("/trap/%d", i), tt.change, tt.fields...); s.Suspect || s.Signals != 0 {
					t.Fatalf("request %d: %+v", i, s)
				}
			}
		})
	}
}

func TestReadingRobotsTxtInABrowser(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ua     string
		fields []string
		want   bool
	}{
		"typed":                     {chrome, typed, false},
		"a script":                  {chrome, nil, true},
		"a script as Firefox":       {mozilla, nil, true},
		"an old browser":            {oldFox, nil, false},
		"a WebView":                 {"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36", nil, false},
		"one field is there":        {chrome, []string{"Sec-Fetch-Mode", "navigate"}, false},
		"ahead of the user":         {chrome, []string{"Sec-Purpose", "prefetch"}, false},
		"a robot that says who":     {"Mozilla/5.0 (compatible; ExampleBot/1.0)", nil, false},
		"somebody who is logged in": {chrome, []string{"Cookie", "session=1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisitor(t)
			v.r.UserAgent = tt.ua
			if got := v.send("/robots.txt", nil, tt.fields...).Signals.Has(RobotsTxt); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// 50 people with the same browser at one address, who read fast and have no
// cookies, are 50 connections and not one robot, even after one of them opened
// a trap.
func TestPeopleWhoShareAnAddress(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/trap/x", hit(MintedHit), typed...)
	for page := range 100 {
		for person := range 50 {
			v.r.Connection = fmt.Sprintf("192.0.2.7:%d", 50000+person)
			if s := v.send(fmt.Sprintf("/%d/%d", person, page), nil, clicked...); s.Suspect || s.Signals.Has(Pace) {
				t.Fatalf("%+v", s)
			}
			if page == 0 {
				v.send("/style.css", nil, image...)
			}
			v.now = v.now.Add(20 * time.Millisecond)
		}
	}
}

// A scraper without Sec-Fetch-* fields brings no suspicion on the browsers at
// its address, nor on other User-Agents, other addresses or other sites.
func TestASuspectIsNobodyElse(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	v.send("/trap/x", hit(StaticHit))
	if !v.send("/", nil).Suspect {
		t.Fatal("the scraper is no suspect")
	}
	if v.send("/", nil, clicked...).Suspect {
		t.Error("a browser at the same address is")
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

// One client has a /64 of IPv6 addresses.
func TestIPv6(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.r.Client = netip.MustParseAddr("2001:db8::1")
	v.send("/robots.txt", nil)
	v.r.Client = netip.MustParseAddr("2001:db8::2")
	if !v.send("/trap/x", hit(StaticHit)).Suspect {
		t.Error("another address of the same /64 is another client")
	}
	v.r.Client = netip.MustParseAddr("2001:db8:0:1::1")
	if v.send("/", nil).Suspect {
		t.Error("the next /64 is the same client")
	}
	v.r.Client = netip.MustParseAddr("::ffff:192.0.2.7")
	v.send("/robots.txt", nil)
	v.r.Client = netip.MustParseAddr("192.0.2.7")
	if !v.send("/", nil).Signals.Has(RobotsTxt) {
		t.Error("an IPv4 address in IPv6 form is another client")
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	v.now = v.now.Add(23 * time.Hour)
	if s := v.send("/trap/x", hit(StaticHit)); !s.Suspect || !s.Until.Equal(v.now.Add(time.Hour)) {
		t.Fatalf("after 23 hours: %+v", s)
	}
	v.now = v.now.Add(50 * time.Minute)
	if s := v.send("/trap/y", hit(StaticHit)); !s.Suspect || !s.Until.Equal(v.now.Add(time.Hour)) {
		t.Errorf("a new signal does not prolong it: %+v", s)
	}
	v.now = v.now.Add(59 * time.Minute)
	if !v.send("/a", nil).Suspect {
		t.Error("no suspect after 59 minutes")
	}
	v.now = v.now.Add(time.Minute)
	if s := v.send("/b", nil); s.Suspect || s.Signals.Has(RobotsTxt) {
		t.Errorf("after an hour, when robots.txt was read more than 24 hours ago: %+v", s)
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

// A visitor who comes all the time is forgotten as well.
func TestSignalsOfABusyVisitorAreForgotten(t *testing.T) {
	t.Parallel()
	v := newVisitor(t)
	v.send("/robots.txt", nil)
	for range 24*60 + 5 {
		v.now = v.now.Add(time.Minute)
		v.send("/", nil)
	}
	if s := v.send("/", nil); s.Signals != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPace(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fields []string
		n      int
		pause  time.Duration
		change func(*Request, int)
		want   bool
	}{
		"fast":                           {nil, 45, 100 * time.Millisecond, nil, true},
		"fast in a browser":              {clicked, 45, 100 * time.Millisecond, nil, true},
		"30 tabs at once":                {clicked, 30, 0, nil, false},
		"a page a second for a minute":   {clicked, 60, time.Second, nil, false},
		"a page every two seconds":       {clicked, 5000, 2 * time.Second, nil, false},
		"a reload every 100 ms":          {clicked, 500, 100 * time.Millisecond, func(r *Request, _ int) { r.Target = "/" }, false},
		"each over another connection":   {clicked, 500, 100 * time.Millisecond, func(r *Request, i int) { r.Connection = fmt.Sprint(i) }, false},
		"behind a proxy":                 {clicked, 500, 100 * time.Millisecond, func(r *Request, _ int) { r.Connection = "" }, false},
		"without fields, behind one":     {nil, 50, 100 * time.Millisecond, func(r *Request, _ int) { r.Connection = "" }, true},
		"a page a second without an end": {nil, 100, time.Second, nil, true},
		"with what the pages embed": {nil, 500, 100 * time.Millisecond, func(r *Request, i int) {
			if i%3 != 0 {
				r.Target += ".png"
			}
		}, false},
		"with little of it": {nil, 200, 100 * time.Millisecond, func(r *Request, i int) {
			if i%10 == 0 {
				r.Target += ".png"
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t)
			got := false
			for i := range tt.n {
				change := func(r *Request) {
					if tt.change != nil {
						tt.change(r, i)
					}
				}
				got = got || v.send(fmt.Sprintf("/%d", i), change, tt.fields...).Signals.Has(Pace)
				v.now = v.now.Add(tt.pause)
			}
			if got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}

func TestDocumentsAlone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		visitors int
		embed    bool
		n        int
		fields   []string
		files    bool
		want     bool
	}{
		"of a scraper":                             {20, true, 20, nil, false, true},
		"of a scraper, not enough":                 {20, true, 19, nil, false, false},
		"with fields":                              {20, true, 100, clicked, false, true},
		"with fields, not enough":                  {20, true, 99, clicked, false, false},
		"with a file":                              {20, true, 200, nil, true, false},
		"where visitors fetch no files":            {20, false, 200, nil, false, false},
		"where nobody knows what visitors do":      {0, true, 200, nil, false, false},
		"where not enough visitors are known":      {9, true, 200, nil, false, false},
		"where visitors fetch no files, in Chrome": {20, false, 200, clicked, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisitor(t)
			for i := range tt.visitors {
				person := visitorAt(t, v.watch)
				person.r.Client = netip.AddrFrom4([4]byte{198, 51, 100, byte(i)})
				for page := range 4 {
					person.send(fmt.Sprint("/", page), nil, clicked...)
					if tt.embed {
						person.send("/logo.png", nil, image...)
					}
				}
			}
			if tt.files {
				v.send("/logo.png", nil, tt.fields...)
			}
			got := false
			for i := range tt.n {
				got = got || v.send(fmt.Sprint("/", i), nil, tt.fields...).Signals.Has(Documents)
				v.now = v.now.Add(5 * time.Second)
			}
			if got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}

type told struct {
	mu       sync.Mutex
	raised   []Signal
	suspects []*Suspect
}

func (o *told) Raised(s Signal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.raised = append(o.raised, s)
}

func (o *told) Suspected(s *Suspect) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.suspects = append(o.suspects, s)
}

func TestSuspects(t *testing.T) {
	t.Parallel()
	o := new(told)
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
		t.Errorf("%d suspects and %d signals were reported", len(o.suspects), len(o.raised))
	}
	v := visitorAt(t, w)
	got := w.Suspects(v.now.Add(10*time.Minute), 3)
	if len(got) != 3 {
		t.Fatalf("%d are listed", len(got))
	}
	last := got[0]
	if last.Site != "example.com" || last.Network.String() != "203.0.113.0/24" || last.Browser != (Browser{"Chrome", 131, 131}) || last.Fields ||
		last.Documents != 2 || !last.Since.Equal(v.now.Add(4*time.Minute)) || !last.Until.Equal(v.now.Add(64*time.Minute)) ||
		fmt.Sprint(last.Signals) != fmt.Sprintf("[{robots_txt 1 %s} {trap_static 2 %[1]s}]", v.now.Add(4*time.Minute).Local()) {
		t.Errorf("%+v", last)
	}
	if got := w.Suspects(v.now.Add(62*time.Minute), 100); len(got) != 2 {
		t.Errorf("%d are listed when three are none any more", len(got))
	}
	again := visitorAt(t, w)
	again.now = v.now.Add(3 * time.Hour)
	again.r.Client = netip.AddrFrom4([4]byte{203, 0, 113, 1})
	again.send("/trap/z", hit(StaticHit))
	if got := w.Suspects(again.now, 100); len(got) != 1 || got[0].Signals[1].Count != 3 || !got[0].Since.Equal(again.now) {
		t.Errorf("one that became a suspect again: %+v", got)
	}
}

// The list is bounded, and goes on with the newest.
func TestManySuspects(t *testing.T) {
	t.Parallel()
	w := NewWatch(Config{Entries: 40_000})
	v := visitorAt(t, w)
	for i := range maxSuspects + 10 {
		v.r.Client = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		v.send("/robots.txt", nil)
		v.send("/trap/x", hit(StaticHit))
	}
	if got := len(w.Suspects(v.now, 1<<20)); got > maxSuspects || got < maxSuspects-10 {
		t.Errorf("%d are listed", got)
	}
	if !v.send("/", nil).Suspect {
		t.Error("the last is none")
	}
}

func TestConcurrentVisitors(t *testing.T) {
	t.Parallel()
	o := new(told)
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
				w.Hear([]Mark{{Signal: Pace, Time: v.now}})
			}
			if !v.send("/", nil).Suspect {
				t.Error("no suspect")
			}
		})
	}
	all.Wait()
	if len(o.suspects) != 4 {
		t.Errorf("%d suspects were reported, want 4", len(o.suspects))
	}
}

// addr is one of many addresses.
func addr(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}
