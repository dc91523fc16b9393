package challenge

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The style sheet's cookie is only for the browser that says that a page of the same origin
// wants it, or says nothing: no link and no image of another site plants a pass.
func TestWhoGetsTheStyleSheetsCookie(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	const addr = "192.0.2.1"
	sheet := func() string { return find(sheetForm, s.serve("GET", "/blame/a", addr).Body.String()) }
	for _, tt := range []struct {
		dest, site string
		want       bool
	}{
		{"style", "same-origin", true}, {"", "", true}, {"style", "cross-site", false}, {"style", "same-site", false}, {"style", "none", false},
		{"style", "", false}, {"", "same-origin", false}, {"document", "cross-site", false}, {"document", "none", false}, {"image", "same-origin", false},
		{"empty", "same-origin", false},
	} {
		w := s.serve("GET", "/blame/a"+sheet(), addr, "Sec-Fetch-Dest", tt.dest, "Sec-Fetch-Site", tt.site)
		if got := len(w.Result().Cookies()) > 0; got != tt.want || w.Code != http.StatusOK {
			t.Errorf("dest %q, site %q: %d, cookie: %v", tt.dest, tt.site, w.Code, got)
		}
	}
}

// No bound lasts longer after the clock was set back.
func TestBoundsAfterClockSetBack(t *testing.T) {
	t.Parallel()
	var b bucket
	for b.take(noon, ownPages) == 0 {
	}
	if wait := b.take(noon.Add(-time.Hour), ownPages); wait > 0 {
		t.Errorf("a bound holds for %s", wait)
	}
	for b.take(noon, ownPages) == 0 {
	}
	if b.take(noon.Add(-30*time.Second), ownPages) == 0 {
		t.Error("a request that was overtaken empties the bound")
	}
}

// Who presses the button of an old page gets a fresh page, and not
// what the site answers to a POST. Forms of the site go on.
func TestLatePress(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	page := s.serve("GET", "/blame/a?x=1", "192.0.2.1").Body.String()
	target := "/blame/a" + find(buttonForm, page)
	press := func(addr string, fields ...string) (status int, location string) {
		w := s.serve("POST", target, addr, fields...)
		return w.Code, w.Header().Get("Location")
	}
	if status, to := press("198.51.100.1"); status != http.StatusSeeOther || !strings.HasPrefix(to, "/blame/a?x=1&"+parameter) {
		t.Errorf("another exit of the same person: %d to %s", status, to)
	}
	s.now = s.now.Add(2 * time.Hour)
	if status, _ := press("198.51.100.1", "Sec-Fetch-Dest", "empty", "Cookie", "a=b"); status != http.StatusOK {
		t.Errorf("a script: %d", status)
	}
	if status, to := press("192.0.2.1"); status != http.StatusSeeOther || to != "/blame/a?x=1" {
		t.Errorf("two hours later: %d to %s", status, to)
	}
}

// A client that has another network for each request is not sent round in circles.
func TestEachRequestFromAnotherNetwork(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.storm(40*time.Second, 20)
	page := s.serve("GET", "/blame/a", "192.0.2.1").Body.String()
	if w := s.serve("GET", "/blame/a"+find(sheetForm, page), "198.51.100.1"); len(w.Result().Cookies()) > 0 {
		t.Error("a pass for another network")
	}
	next := find(openForm, page)
	w := s.serve("GET", "/blame/a?"+next, "203.0.113.1")
	if body := w.Body.String(); w.Code != http.StatusTooManyRequests || strings.Contains(body, "<script") ||
		strings.Contains(body, "refresh") {
		t.Errorf("it goes on by itself again: %d\n%s", w.Code, body)
	}
	other := ring{rand.Text()}
	s.memory.ring.Store(&other) // another server
	w = s.serve("GET", "/blame/a?"+next, "192.0.2.1")
	if w.Code != http.StatusTooManyRequests || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("it goes on by itself again at another server: %d", w.Code)
	}
	s.now = s.now.Add(tokenLife + time.Second)
	if w := s.serve("GET", "/blame/a?"+next, "192.0.2.1"); w.Header().Get("Location") != "/blame/a" {
		t.Errorf("an old URL: %d to %s", w.Code, w.Header().Get("Location"))
	}
}
