package headers

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestSignals checks the header fields: contentsignals.org,
// draft-ietf-aipref-attach (the longest path decides), RSL 1.0 with RFC 8288
// (RFC 4946 registers rel="license").
func TestSignals(t *testing.T) {
	s := CompileSignals(
		[]string{"search=yes, ai-train=no", "AI-Input = no,search=no"},
		[]string{"train-ai=n", "/public/ train-ai=y", "/public/*.pdf$ train-ai=n, search=y", "/public/ search=n"},
		[]string{"https://example.com/license.xml", "https://example.com/license.xml", " https://example.com/a b>"},
	)
	for _, test := range []struct {
		target, usage string
	}{
		{"/", "train-ai=n"},
		{"/public/", "train-ai=y, search=n"},
		{"/%70ublic/x", "train-ai=y, search=n"},
		{"/public/a.pdf", "train-ai=n, search=y"},
		{"/public/a.pdf?x", "train-ai=y, search=n"},
	} {
		h := http.Header{"Link": {"</style.css>; rel=preload"}}
		for range 2 { // the second call adds nothing
			s.Apply(h, test.target, 200)
		}
		if got := h.Values("Content-Usage"); !slices.Equal(got, []string{test.usage}) {
			t.Errorf("%s: Content-Usage %q, want %q", test.target, got, test.usage)
		}
		if got := h.Values("Content-Signal"); !slices.Equal(got, []string{"search=no, ai-train=no, ai-input=no"}) {
			t.Errorf("%s: Content-Signal %q", test.target, got)
		}
		want := []string{"</style.css>; rel=preload", `<https://example.com/license.xml>; rel="license"`, `<https://example.com/a%20b%3E>; rel="license"`}
		if got := h.Values("Link"); !slices.Equal(got, want) {
			t.Errorf("%s: Link %q, want %q", test.target, got, want)
		}
	}
	for _, status := range []int{101, 103} {
		h := http.Header{}
		if s.Apply(h, "/", status); len(h) != 0 {
			t.Errorf("status %d: %v", status, h)
		}
	}
	h := http.Header{"Content-Usage": {"train-ai=y"}}
	if s.Apply(h, "/", 200); h.Get("Content-Usage") != "train-ai=y" {
		t.Errorf("the response's own Content-Usage became %q", h.Values("Content-Usage"))
	}
	(*Signals)(nil).Apply(h, "/", 200)
}

// What a header can't contain is left out.
func TestSignalsThatAreNoFields(t *testing.T) {
	s := CompileSignals([]string{"", "search", "a=b\r\nX-Evil: 1", "search=yes"}, []string{"/x", "=n"}, []string{"license.xml", "javascript:alert(1)", "https://exa\r\nmple.com"})
	h := http.Header{}
	s.Apply(h, "/x", 200)
	if len(h) != 1 || h.Get("Content-Signal") != "search=yes" {
		t.Errorf("got %v", h)
	}
}

// FuzzSignals checks that a hostile robots.txt can't add other header fields or
// other links.
func FuzzSignals(f *testing.F) {
	f.Add("search=yes", "/a train-ai=n", "https://example.com/l", "/a")
	f.Fuzz(func(t *testing.T, signal, usage, license, target string) {
		s := CompileSignals([]string{signal}, []string{usage}, []string{license})
		h := http.Header{}
		s.Apply(h, target, 200)
		for field, values := range h {
			for _, v := range values {
				if !isFieldValue(v) || strings.Count(v, ">") > 1 {
					t.Errorf("%s: %q", field, v)
				}
			}
		}
	})
}
