package dashboard

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// get requests the page or its data, with header fields.
func get(t *testing.T, p statusapi.Reporter, target string, fields ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	SetHeaders(w.Header())
	if err := ServeHTTP(w, r, p, statusapi.Sites("a.test")); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestPage(t *testing.T) {
	first, second := get(t, new(reporter), "/any/prefix"), get(t, new(reporter), "/any/prefix/")
	policy := first.Header().Get("Content-Security-Policy")
	if policy == second.Header().Get("Content-Security-Policy") {
		t.Error("two pages have the same nonce")
	}
	nonce := regexp.MustCompile(`script-src 'nonce-([\w-]{22,})'`).FindStringSubmatch(policy)
	if nonce == nil {
		t.Fatalf("no nonce in %s", policy)
	}
	for _, directive := range []string{
		"default-src 'none'", "style-src 'nonce-" + nonce[1] + "'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types 'none'",
	} {
		if !slices.Contains(strings.Split(policy, "; "), directive) {
			t.Errorf("the policy lacks %s: %s", directive, policy)
		}
	}
	body := first.Body.String()
	for _, tag := range regexp.MustCompile(`<(?:script|style)\b[^>]*>`).FindAllString(body, -1) {
		if !strings.Contains(tag, `nonce="`+nonce[1]+`"`) {
			t.Errorf("%s has no nonce", tag)
		}
	}
	if n := strings.Count(body, "<script"); n != 1 {
		t.Errorf("%d scripts, want 1", n)
	}
}

// The page loads nothing from elsewhere. It has no script or style in attributes, which
// the policy would refuse.
func TestPageLoadsNothing(t *testing.T) {
	markup := text("page.html")
	for _, bad := range []string{`\b(?:src|action|srcset|style)=`, `\bon[a-z]+=`, `javascript:`, `https?:`, `<base\b`, `<iframe`, `@import`} {
		if found := regexp.MustCompile(bad).FindString(markup); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	for _, href := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(markup, -1) {
		if href[1] != "data:," && !strings.HasPrefix(href[1], "#") {
			t.Errorf("the page refers to %s", href[1])
		}
	}
	if bad := regexp.MustCompile(`url\(|@import|https?:`).FindString(text("style.css")); bad != "" {
		t.Errorf("the style has %q", bad)
	}
}

// The page's script never turns text into markup or script, and sends requests only to
// the page's own URL.
func TestScriptIsSafe(t *testing.T) {
	source := joined(scripts)
	for _, bad := range []string{
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser", "createContextualFragment", "setHTML", "srcdoc",
		".src ", ".href ", "setAttribute('style'", "setAttribute('on", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "localStorage", "import(",
	} {
		if strings.Contains(source, bad) {
			t.Errorf("the script has %s", bad)
		}
	}
	if n := strings.Count(source, "fetch("); n != 1 || !strings.Contains(source, "await fetch(here + '?' + ") {
		t.Errorf("the script fetches in %d places", n)
	}
	if found := regexp.MustCompile(`https?://[^\s'"]+`).FindAllString(source, -1); !slices.Equal(found, []string{"http://www.w3.org/2000/svg", "http://www.w3.org/2000/svg"}) {
		t.Errorf("the script has the URLs %q", found)
	}
	entries, err := files.ReadDir("script")
	if err != nil || len(entries) != len(scripts) {
		t.Errorf("%d files of scripts, of which %d are part of the page: %v", len(entries), len(scripts), err)
	}
}

func TestLive(t *testing.T) {
	p := new(reporter)
	for target, asked := range map[string]string{"/?data=live&span=day&after=41": statusapi.SpanDay, "/?data=lines&id=a&text=1": ""} {
		w := get(t, p, target)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || strings.ContainsAny(w.Body.String(), "<>&") {
			t.Errorf("%s: %d %s: %s", target, w.Code, w.Header().Get("Content-Type"), w.Body)
		}
		var live struct {
			Series statusapi.Series
			Last   uint64
			Recent []statusapi.Refusal
		}
		if err := json.Unmarshal(w.Body.Bytes(), &live); err != nil {
			t.Fatal(err)
		}
		if asked != "" && (live.Series.Span != asked || live.Last != 42 || live.Recent[0].UserAgent != hostile) {
			t.Errorf("%s: %s", target, w.Body)
		}
	}
	if !slices.Equal(p.asked, []string{"a.test", "a.test"}) {
		t.Errorf("the sites in the scope are %v", p.asked)
	}
}

// Data that has not changed is not sent again.
func TestLiveIsConditional(t *testing.T) {
	for _, encoding := range []string{"identity", "gzip"} {
		etag := get(t, new(reporter), "/?data=live", "Accept-Encoding", encoding).Header().Get("Etag")
		w := get(t, new(reporter), "/?data=live", "Accept-Encoding", encoding, "If-None-Match", etag)
		if etag == "" || w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("%s: Etag %q, then %d with %d octets", encoding, etag, w.Code, w.Body.Len())
		}
		if w := get(t, new(reporter), "/?data=live&after=1", "Accept-Encoding", encoding, "If-None-Match", etag); w.Code != http.StatusOK {
			t.Errorf("%s: other data: %d", encoding, w.Code)
		}
	}
}

// A parameter site narrows the scope and never widens it. A site outside the
// scope gets the same answer as one that does not exist.
func TestScopeIsNotWidened(t *testing.T) {
	for target, want := range map[string]int{
		"/?data=live": 200, "/?data=live&site=a.test": 200, "/?data=live&site=b.test": 404, "/?data=live&site=a.test&site=b.test": 404, "/?data=live&site=": 404,
		"/?data=live&site=c.test": 404, "/?data=lines&site=b.test": 404, "/?data=check&site=b.test": 404,
	} {
		p := new(reporter)
		w := get(t, p, target)
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", target, w.Code, w.Body, want)
		}
		switch {
		case want == 200 && !slices.Equal(p.asked, []string{"a.test"}):
			t.Errorf("%s: the sites in the scope are %v", target, p.asked)
		case want == 404 && (p.asked != nil || !strings.Contains(w.Body.String(), "the sites are a.test\"")):
			t.Errorf("%s: the sites in the scope are %v, the answer is %s", target, p.asked, w.Body)
		}
	}
}

func TestErrors(t *testing.T) {
	for target, want := range map[string]int{
		"/?data=live&span=year": 400, "/?data=live&after=-1": 400, "/?data=live&after=x": 400, "/?data=refresh": 404, "/?data=mode&mode=monitor": 404, "/?data=": 404,
		"/?data=lines&id=none&text=1": 404, "/?data=%3Cb%3E": 404,
	} {
		p := new(reporter)
		w := get(t, p, target)
		var answer map[string]string
		if err := json.Unmarshal(w.Body.Bytes(), &answer); w.Code != want || err != nil || answer["error"] == "" || strings.Contains(w.Body.String(), "<") {
			t.Errorf("%s: %d %s, want %d", target, w.Code, w.Body, want)
		}
		if p.writes > 0 {
			t.Errorf("%s changes something", target)
		}
	}
}

func TestCompression(t *testing.T) {
	for field, want := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.0": false, "": false, "br": false, "GZIP": true} {
		w := get(t, new(reporter), "/", "Accept-Encoding", field)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: compressed %t, want %t", field, got, want)
			continue
		}
		body := io.Reader(w.Body)
		if want {
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		if all, err := io.ReadAll(body); err != nil || !strings.HasPrefix(string(all), "<!doctype html>") || !strings.HasSuffix(string(all), "</html>\n") {
			t.Errorf("%q: %v", field, err)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: Vary %q", field, w.Header().Get("Vary"))
		}
	}
}

// HEAD is answered like GET. All other methods are refused.
func TestMethods(t *testing.T) {
	p := new(reporter)
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405} {
		for _, target := range []string{"/", "/?data=live", "/?data=refresh"} {
			w := httptest.NewRecorder()
			if err := ServeHTTP(w, httptest.NewRequest(method, target, nil), p, statusapi.AllSites()); err != nil {
				t.Fatal(err)
			}
			if w.Code != want && (method != http.MethodHead || target != "/?data=refresh") {
				t.Errorf("%s %s: %d, want %d", method, target, w.Code, want)
			}
		}
	}
	if p.writes > 0 {
		t.Error("something was changed")
	}
}
