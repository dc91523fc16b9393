package challenge

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// What a request says of itself opens nothing while the check is on, and keeps no storm from
// being seen.
func TestNoFieldIsAWayAround(t *testing.T) {
	t.Parallel()
	foreign := ring{rand.Text()}
	for name, tt := range map[string]struct {
		method string
		fields []string
	}{
		"Sec-Fetch-Dest: image":         {fields: []string{"Sec-Fetch-Dest", "image"}},
		"Sec-Fetch-Dest: empty":         {fields: []string{"Sec-Fetch-Dest", "empty"}},
		"Sec-Purpose":                   {fields: []string{"Sec-Purpose", "prefetch"}},
		"Upgrade":                       {fields: []string{"Upgrade", "x"}},
		"Accept":                        {fields: []string{"Accept", "image/*"}},
		"Authorization":                 {fields: []string{"Authorization", "x"}},
		"Range":                         {fields: []string{"Range", "bytes=0-"}},
		"If-None-Match":                 {fields: []string{"If-None-Match", "*"}},
		"curl":                          {fields: []string{"User-Agent", "curl/8.5.0"}},
		"an app":                        {fields: []string{"User-Agent", "Photos/1.0 CFNetwork/1410.0.3 Darwin/22.6.0"}},
		"MSIE":                          {fields: []string{"User-Agent", "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1)"}},
		"no User-Agent":                 {fields: []string{"User-Agent", ""}},
		"HEAD":                          {method: "HEAD"},
		"FOO":                           {method: "FOO"},
		"PROPFIND":                      {method: "PROPFIND"},
		"POST with a cookie":            {method: "POST", fields: []string{"Cookie", "a=b"}},
		"POST of a page":                {method: "POST", fields: []string{"Sec-Fetch-Site", "same-origin", "Cookie", "a=b"}},
		"a webhook":                     {method: "POST", fields: []string{"User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"}},
		"OPTIONS without its fields":    {method: "OPTIONS"},
		"a browser's fields":            {fields: opened},
		"a referer":                     {fields: []string{"Referer", "https://example.com/"}},
		"a forged pass":                 {fields: []string{"Cookie", "__Host-caddy-robots-pass=" + strings.Repeat("A", tokenLen)}},
		"a pass of another server":      {fields: []string{"Cookie", "__Host-caddy-robots-pass=" + foreign.text(newToken(noon).as(passToken), new(bearer))}},
		"a style sheet of the check":    {fields: []string{"Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin"}},
		"a browser that nobody knows":   {fields: []string{"User-Agent", "NetSurf/3.11 (Linux)"}},
		"a name of a crawler, invented": {fields: []string{"User-Agent", "XQBot/1.0"}},
		"an unverified Googlebot":       {fields: []string{"User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, perSecond := range []int{4, 100} {
				s := newSite(t, nil)
				s.publish("")
				through := 0
				for i := range 10_000 {
					if i%perSecond == 0 {
						s.now = s.now.Add(time.Second)
					}
					target := "/blame/" + strconv.Itoa(i)
					if _, v, _ := s.ask(cmp.Or(tt.method, "GET"), target, address(i), tt.fields...); v == Go && s.now.Sub(noon) > time.Minute {
						through++
					}
				}
				allowed := 0
				if strings.Contains(name, "name of") || strings.Contains(name, "Googlebot") { // what `over` allows
					allowed = 60 + int(s.now.Sub(noon)/time.Second)
				}
				if through > allowed {
					t.Errorf("%d a second: %d of 10,000 get through after a minute", perSecond, through)
				}
			}
		})
	}
}

// A request counts when it reaches the back end, and is given back only by a complete answer
// that is no page.
func TestWhatIsAPage(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method string
		as     backend
		want   bool
	}{
		"a page":                {want: true},
		"XHTML":                 {as: backend{media: "application/xhtml+xml"}, want: true},
		"no type":               {as: backend{media: "none"}, want: true},
		"206":                   {as: backend{status: 206}, want: true},
		"304":                   {as: backend{status: 304, media: "none"}, want: true},
		"502":                   {as: backend{status: 502}, want: true},
		"an error 502":          {as: backend{err: caddyhttp.Error(502, nil)}, want: true},
		"broken off":            {as: backend{err: http.ErrHandlerTimeout}, want: true},
		"HEAD":                  {method: "HEAD", as: backend{media: "image/png"}, want: true},
		"JSON":                  {as: backend{media: "application/json"}},
		"a style sheet":         {as: backend{media: "text/css"}},
		"302":                   {as: backend{status: 302}},
		"404":                   {as: backend{status: 404}},
		"an error 404":          {as: backend{err: caddyhttp.Error(404, nil)}},
		"204":                   {as: backend{status: 204, media: "none"}},
		"101":                   {as: backend{status: 101, media: "none"}},
		"a hit of a cache":      {as: backend{field: "Cache-Status: Souin; hit; ttl=10"}},
		"a miss of a cache":     {as: backend{field: "Cache-Status: Souin; fwd=miss"}, want: true},
		"a page with a charset": {as: backend{media: "TEXT/HTML;charset=latin1"}, want: true},
	} {
		s := newSite(t, nil)
		for i := range 1200 {
			if i%20 == 0 {
				s.now = s.now.Add(time.Second)
			}
			s.askAnswered(cmp.Or(tt.method, "GET"), "/blame/a", address(i), tt.as)
		}
		if got := s.isOn(); got != tt.want {
			t.Errorf("%s: counts: %v", name, got)
		}
	}
}

// A name of a crawler that no rule binds never gets the page: it has `over`, and invented
// names share one.
func TestNamesOfCrawlers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.publish("")
	s.storm(40*time.Second, 20)
	count := func(fields ...string) (through int) {
		for i := range 1000 {
			_, v, _ := s.ask("GET", "/blame/a", address(i), fields...)
			if v == Go {
				through++
			}
			if v == Stranger {
				t.Errorf("%v get the page", fields)
				break
			}
		}
		return through
	}
	for _, ua := range []string{"Googlebot/2.1", "bingbot/2.0", "XQBot/1.0"} {
		if n := count("User-Agent", ua); n != 60 {
			t.Errorf("%s: %d get through", ua, n)
		}
	}
	if n := count("User-Agent", "YZBot/1.0"); n != 0 {
		t.Errorf("another invented name: %d get through", n)
	}
	if n := count("User-Agent", "kube-probe/1.29"); n != 1000 {
		t.Errorf("a probe: %d get through", n)
	}
	s.publish("User-agent: *\nDisallow: /closed/\n")
	if n := count("User-Agent", "XQBot/1.0"); n != 1000 {
		t.Errorf("a crawler that a rule binds: %d get through", n)
	}
}

// Who was known before the check went on may do all but open documents.
func TestKnownVisitors(t *testing.T) {
	t.Parallel()
	git := []string{"User-Agent", "git/2.47.1", "Accept", "*/*", "Authorization", "Basic eDp4"}
	form := append([]string{"Cookie", "session=1"}, opened...)
	hook := []string{"User-Agent", "Stripe/1.0 (+https://stripe.com/docs/webhooks)"}
	fetch := []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors", "Sec-Fetch-Dest", "empty"}
	for name, tt := range map[string]struct {
		before func(s *site, addr string)
		method string
		fields []string
		want   bool
	}{
		"git with credentials": {func(s *site, addr string) { s.ask("GET", "/p.git", addr, git...) }, "GET", git, true},
		"git that was refused": {func(s *site, addr string) { s.askAnswered("GET", "/p.git", addr, backend{status: 401}, git...) }, "GET", git, false},
		"a form":               {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "POST", form, true},
		"a form, after a visit": {func(s *site, addr string) {
			s.ask("GET", "/", addr, opened...)
			s.ask("GET", "/a.css", addr, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "style")
		}, "POST", form, true},
		"a form, after a page alone": {func(s *site, addr string) { s.ask("GET", "/", addr, opened...) }, "POST", form, false},
		"a webhook":                  {func(s *site, addr string) { s.ask("POST", "/hook", addr, hook...) }, "POST", hook, true},
		"a script of a regular":      {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "GET", fetch, true},
		"a document of a regular":    {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "GET", opened, false},
		"somebody else there":        {func(s *site, addr string) { s.ask("POST", "/login", addr, form...) }, "POST", append([]string{"User-Agent", chrome + " x"}, form...), false},
		"a stranger":                 {func(*site, string) {}, "POST", form, false},
		"a bare POST":                {func(s *site, addr string) { s.ask("POST", "/login", addr) }, "POST", nil, false},
	} {
		s := newSite(t, nil)
		tt.before(s, "192.0.2.1")
		s.now = s.now.Add(23 * time.Hour)
		s.storm(40*time.Second, 20)
		s.ask("POST", "/login", "192.0.2.2", form...) // too late
		if _, v, _ := s.ask(tt.method, "/blame/a", "192.0.2.1", tt.fields...); v == Go != tt.want {
			t.Errorf("%s: %v", name, v)
		}
		if _, v, _ := s.ask("POST", "/blame/a", "192.0.2.2", form...); v == Go {
			t.Errorf("%s: who came after the check went on is known", name)
		}
		if !tt.want {
			continue
		}
		through := 0
		for range 1000 {
			if _, v, _ := s.ask(tt.method, "/blame/a", "192.0.2.1", tt.fields...); v == Go {
				through++
			}
		}
		if through > ownPages.burst {
			t.Errorf("%s: %d pages at once", name, through)
		}
		s.now = s.now.Add(time.Hour)
		for range 1000 { // what is no page
			if _, v, _ := s.askAnswered(tt.method, "/blame/a", "192.0.2.1", backend{media: "application/json"}, tt.fields...); v != Go {
				t.Fatalf("%s: an answer that is no page counts", name)
			}
		}
	}
}
