package suspect

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"testing"
)

func TestSuspectNeedsTwoIndependentSignalsAndAStrongOne(t *testing.T) {
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
		"a minted trap alone":                  {[]func(*visitor){trap(MintedHit)}, false, "trap"},
		"robots.txt alone":                     {[]func(*visitor){robots}, false, "robots_txt"},
		"pace alone":                           {[]func(*visitor){pace}, false, "pace"},
		"robots.txt again":                     {[]func(*visitor){robots, robots, robots}, false, "robots_txt"},
		"weak signals only":                    {[]func(*visitor){hints, pace, trap(StaticHit)}, false, "trap_static,pace,client_hints"},
		"traps only":                           {[]func(*visitor){trap(StaticHit), trap(OtherHit), trap(MintedHit)}, false, "trap,trap_other,trap_static"},
		"robots.txt and a static trap":         {[]func(*visitor){robots, trap(StaticHit)}, true, "robots_txt,trap_static"},
		"robots.txt and another client's trap": {[]func(*visitor){robots, trap(OtherHit)}, true, "robots_txt,trap_other"},
		"robots.txt and a minted trap":         {[]func(*visitor){trap(MintedHit), robots}, true, "trap,robots_txt"},
		"a minted trap and pace":               {[]func(*visitor){trap(MintedHit), pace}, true, "trap,pace"},
		"robots.txt and client hints":          {[]func(*visitor){hints, robots}, true, "robots_txt,client_hints"},
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

// A request that a page of another site causes raises no signal, even if its URL was
// minted for the user's address. Neither do requests that are not watched.
func TestRequestsThatOtherSitesCauseRaiseNoSignal(t *testing.T) {
	t.Parallel()
	fetch := func(site, mode, dest string, more ...string) []string {
		return append([]string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "Sec-Fetch-Dest", dest}, more...)
	}
	for name, tt := range map[string]struct {
		fields []string
		change func(*Request)
	}{
		"an image":                  {fields: fetch("cross-site", "no-cors", "image")},
		"an image of the same site": {fields: fetch("same-origin", "no-cors", "image")},
		"a link on another site":    {fields: fetch("cross-site", "navigate", "document", "Sec-Fetch-User", "?1")},
		"a link on a subdomain":     {fields: fetch("same-site", "navigate", "document", "Sec-Fetch-User", "?1")},
		"a frame":                   {fields: fetch("same-origin", "navigate", "iframe")},
		"a script's fetch":          {fields: fetch("same-origin", "cors", "empty")},
		"a prefetch":                {fields: fetch("same-origin", "no-cors", "document", "Sec-Purpose", "prefetch")},
		"a prerender":               {fields: append(slices.Clone(clicked), "Sec-Purpose", "prefetch;prerender")},
		"a prefetch with Purpose":   {fields: append(slices.Clone(clicked), "Purpose", "prefetch")},
		"a prefetch with X-Moz":     {fields: append(slices.Clone(clicked), "X-Moz", "prefetch")},
		"a form":                    {fields: clicked, change: func(r *Request) { r.Method = http.MethodPost }},
		"a cookie":                  {fields: []string{"Cookie", "a=b"}},
		"plain HTTP":                {change: func(r *Request) { r.Secure = false }},
		"no address":                {change: func(r *Request) { r.Client = netip.Addr{} }},
		"an old browser":            {change: func(r *Request) { r.UserAgent = oldFox }},
		"Sec-Fetch-Site alone":      {fields: []string{"Sec-Fetch-Site", "cross-site"}},
		"Sec-Fetch-Site twice":      {change: func(r *Request) { r.Header["Sec-Fetch-Site"] = []string{"same-origin", "cross-site"} }},
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

func TestRobotsTxtSignal(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ua     string
		fields []string
		want   bool
	}{
		"Chrome's address bar":    {chrome, typed, false},
		"a script as Chrome":      {chrome, nil, true},
		"a script as Firefox":     {mozilla, nil, true},
		"an old browser":          {oldFox, nil, false},
		"a WebView":               {"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36", nil, false},
		"one Sec-Fetch field":     {chrome, []string{"Sec-Fetch-Mode", "navigate"}, false},
		"a prefetch":              {chrome, []string{"Sec-Purpose", "prefetch"}, false},
		"a self-declared robot":   {"Mozilla/5.0 (compatible; ExampleBot/1.0)", nil, false},
		"a request with a Cookie": {chrome, []string{"Cookie", "session=1"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVisitor(t)
			v.r.UserAgent = tt.ua
			if got := v.send("/robots.txt", nil, tt.fields...).Signals.Has(RobotsTxt); got != tt.want {
				t.Errorf("signal raised: %t, want %t", got, tt.want)
			}
		})
	}
}
