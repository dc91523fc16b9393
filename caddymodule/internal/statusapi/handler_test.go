package statusapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serve sends a request for a route with its query to ServeHTTP.
func serve(f *fakeReporter, method, target string, fields ...string) (*httptest.ResponseRecorder, error) {
	r := httptest.NewRequest(method, "/robots/"+target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	path, _, _ := strings.Cut(target, "?")
	return w, ServeHTTP(w, r, path, f, AllSites())
}

func TestServeHTTPPassesTheQuery(t *testing.T) {
	for _, tt := range []struct {
		method, target string
		want           any
	}{
		{"GET", "", Query{Span: SpanHour, Limit: DefaultLimit}},
		{"GET", "?span=month&limit=7&name=a&after=8&id=x", Query{Span: SpanMonth, Limit: 7, Name: "a", After: 8, ID: "x"}},
		{"HEAD", "?limit=9000000000", Query{Span: SpanHour, Limit: MaxLimit}},
		{"GET", "lines/?id=x", LinesQuery{ID: "x", Limit: DefaultLimit}},
		{"GET", "lines?refused=1&text=true", LinesQuery{Refused: true, Text: true, Limit: DefaultLimit}},
		{"GET", "lines?text=0&refused=false", LinesQuery{Limit: DefaultLimit}},
		{"GET", "check?ua=GPTBot&url=https://a.test/%3Fx", CheckQuery{UserAgent: "GPTBot", URL: "https://a.test/?x"}},
		{"GET", "health", nil},
		{"POST", "refresh?id=x&grace=off", RefreshQuery{ID: "x", GraceOff: true}},
		{"POST", "budgets/reset?crawler=x&id=y", ResetQuery{Crawler: "x", ID: "y"}},
		{"POST", "mode?mode=monitor", ModeQuery{Mode: Monitor}},
	} {
		f := newFakeReporter()
		w, err := serve(f, tt.method, tt.target)
		if err != nil || w.Code != http.StatusOK {
			t.Errorf("%s %s: status %d, error %v", tt.method, tt.target, w.Code, err)
			continue
		}
		if f.calls != 1 || f.query != tt.want || !f.scope.All() {
			t.Errorf("%s %s: %d calls, query %+v, want %+v", tt.method, tt.target, f.calls, f.query, tt.want)
		}
		if tt.method == http.MethodHead {
			if w.Body.Len() != 0 {
				t.Errorf("HEAD %s has a body: %s", tt.target, w.Body)
			}
		} else if !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s is not JSON: %s", tt.method, tt.target, w.Body)
		}
	}
}

func TestServeHTTPErrors(t *testing.T) {
	for _, tt := range []struct {
		method, target string
		status         int
		message        string // a part of it
	}{
		{"GET", "policy", 404, `"policy"`},
		{"POST", "lines", 405, "use GET"},
		{"DELETE", "", 405, "use GET"},
		{"GET", "mode?mode=monitor", 405, "use POST"},
		{"GET", "?span=year", 400, "hour or day or month"},
		{"GET", "lines?text=yes", 400, "want 1 or 0"},
		{"GET", "lines?limit=-1", 400, `limit="-1"`},
		{"GET", "?limit=1.5", 400, `limit="1.5"`},
		{"GET", "?after=18446744073709551616", 400, "after="},
		{"POST", "mode?mode=off", 400, "enforce or monitor or configured"},
		{"POST", "refresh?grace=on", 400, "want off"},
		{"GET", "lines?site=c.test", 404, `site="c.test"`},
	} {
		f := newFakeReporter()
		w, err := serve(f, tt.method, tt.target)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Status != tt.status || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%s %s: error %v, want status %d and %q", tt.method, tt.target, err, tt.status, tt.message)
		}
		if f.calls != 0 || w.Body.Len() != 0 {
			t.Errorf("%s %s: %d calls, body %q", tt.method, tt.target, f.calls, w.Body)
		}
		if tt.status == http.StatusMethodNotAllowed && !strings.HasSuffix(tt.message, w.Header().Get("Allow")) {
			t.Errorf("%s %s: Allow is %q", tt.method, tt.target, w.Header().Get("Allow"))
		}
	}
	f := newFakeReporter()
	f.err = errors.New("out of order")
	if w, err := serve(f, "GET", ""); !errors.Is(err, f.err) || w.Body.Len() != 0 {
		t.Errorf("an error of the reporter: %v, body %q", err, w.Body)
	}
}

func TestServeHTTPNarrowsTheScope(t *testing.T) {
	f := newFakeReporter()
	if _, err := serve(f, "GET", "?site=A.test&site=x.b.test"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a.test": true, "x.b.test": true, "*.b.test": false} {
		if f.scope.Site(name) != want {
			t.Errorf("%s is in the scope: %t", name, !want)
		}
	}
}

// An entity tag is compared as RFC 9110, section 13.1.2, demands.
func TestServeHTTPEntityTag(t *testing.T) {
	first, err := serve(newFakeReporter(), "GET", "")
	if err != nil {
		t.Fatal(err)
	}
	etag := first.Header().Get("Etag")
	if etag == "" || first.Header().Get("Cache-Control") != "no-store" || first.Header().Get("Content-Type") != "application/json" {
		t.Errorf("header fields %v", first.Header())
	}
	for field, want := range map[string]int{etag: 304, "W/" + etag: 304, `"x", ` + etag: 304, "*": 304, `"x"`: 200, "": 200} {
		w, err := serve(newFakeReporter(), "GET", "", "If-None-Match", field)
		if err != nil || w.Code != want || (want == 304) != (w.Body.Len() == 0) {
			t.Errorf("If-None-Match %s: status %d, error %v, %d octets", field, w.Code, err, w.Body.Len())
		}
	}
	if w, err := serve(newFakeReporter(), "POST", "mode?mode=monitor", "If-None-Match", "*"); err != nil || w.Code != 200 || w.Header().Get("Etag") != "" {
		t.Errorf("POST: status %d, error %v, Etag %q", w.Code, err, w.Header().Get("Etag"))
	}
}
