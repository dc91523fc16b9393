package e2e_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"

	"github.com/quic-go/quic-go/http3"
)

func TestRefusalsOfHTTP2And3AreNotStored(t *testing.T) {
	t.Parallel()
	s := start(t, "https://localhost:$PORT {\n\theader {\n\t\tdefer\n\t\tCache-Control public\n\t\tETag x\n\t}\n\tencode gzip\n\trobots {\n"+
		"\t\tsource inline <<TXT\n\t\t\tUser-agent: *\n\t\t\tDisallow: /\n\t\t\tTXT\n\t}\n\trespond page\n}\n")
	insecure := &tls.Config{InsecureSkipVerify: true}
	for name, transport := range map[string]http.RoundTripper{
		"HTTP/2.0": &http.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true}, "HTTP/3.0": &http3.Transport{TLSClientConfig: insecure},
	} {
		var resp *http.Response
		s.eventually("the server answers "+name, func() bool {
			r, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("https://localhost:%d/x", s.port), nil)
			r.Header.Set("User-Agent", gptbot)
			var err error
			resp, err = transport.RoundTrip(r)
			return err == nil && resp.Body.Close() == nil
		})
		if resp.Proto != name || resp.StatusCode != 403 || resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("ETag") != "" {
			t.Errorf("%s: %s, %d, %v", name, resp.Proto, resp.StatusCode, resp.Header)
		}
	}
}
