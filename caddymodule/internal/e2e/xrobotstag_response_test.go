package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The head of an encoded document without a media type is read, and the document
// is sent unchanged.
func TestEncodedDocumentsKeepTheirType(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `<!doctype html><head><noscript><img src=x></noscript><meta name="robots" content="noarchive">`+strings.Repeat("<!-- x -->", 1000))
	_ = z.Close()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		w.Header().Set("Content-Encoding", "gzip")
		for piece := range slices.Chunk(packed.Bytes(), 16) {
			_, _ = w.Write(piece)
		}
	}))
	t.Cleanup(up.Close)
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: *\"\n\t\tmeta_robots on\n\t}\n\treverse_proxy "+up.URL+"\n}\n")
	got := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), chrome, "", http.Header{"Accept-Encoding": {"gzip"}})
	if got.header.Get("X-Robots-Tag") != "noarchive" || got.header.Get("Content-Type") != "" || got.body != packed.String() {
		t.Errorf("status %d, %v, %d octets", got.status, got.header, len(got.body))
	}
}
