package challenge

import (
	"net/http"
	"strings"
	"testing"
)

// Who can show a page gets it, whatever its Accept is: a button, and not a sentence.
func TestTakesHTML(t *testing.T) {
	for accept, want := range map[string]bool{
		"": true, "*/*": true, "Text/HTML": true, "text/html;level=1": true, "text/*;q=0.5": true, "application/xhtml+xml": true,
		"application/json": false, "image/webp": false, "text/plain": false,
	} {
		if got := takesHTML(&http.Request{Header: http.Header{"Accept": {accept}}}); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestWordsFor(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                "en",
		"de-AT,de;q=0.9,en;q=0.8":         "de",
		"en;q=0.1, fr;q=0.9":              "fr",
		"xx,fr;q=0.9":                     "fr", // unknown
		"?,uk":                            "uk", // malformed
		"nl-NL,nl;q=0.9,tlh;q=0.":         "nl",
		strings.Repeat("el,", 80) + "tr":  "en", // more than is read
		"ja," + strings.Repeat("el,", 80): "ja",
		"zh-Hant-TW":                      "zh",
		"de;q=0,es;q=0.1":                 "es",
	} {
		if got := wordsFor(&http.Request{Header: http.Header{"Accept-Language": {accept}}})["Lang"]; got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
}
