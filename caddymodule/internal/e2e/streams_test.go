package e2e_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"
)

// Streams of HTTP/2 and HTTP/3 hold no turn of at_once: not by a body that does not end,
// not by an answer that nobody reads, and not by a request that the client cancels.
func TestStreamsHoldNoTurns(t *testing.T) {
	t.Parallel()
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/archive/big" {
			_, _ = w.Write(make([]byte, 64<<20))
			return
		}
		page("")(w, r)
	})
	s := start(t, "{\n\tservers {\n\t\ttimeouts {\n\t\t\twrite_idle 1s\n\t\t}\n\t}\n}\nhttps://localhost:$PORT {\n\trobots {\n\t\tlimit /archive/* {\n"+
		"\t\t\tat_once 4\n\t\t}\n\t}\n\treverse_proxy "+b.address()+"\n}\n")
	insecure := &tls.Config{InsecureSkipVerify: true}
	for name, transport := range map[string]func() http.RoundTripper{
		"HTTP/2": func() http.RoundTripper { return &http.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true} },
		"HTTP/3": func() http.RoundTripper { return &http3.Transport{TLSClientConfig: insecure} },
	} {
		ctx := t.Context()
		get := func(from http.RoundTripper, path, ua string, body io.Reader) (*http.Response, error) {
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://localhost:%d%s", s.port, path), body)
			r.Header.Set("User-Agent", ua)
			return from.RoundTrip(r)
		}
		crawler := transport()
		status := func() int {
			resp, err := get(crawler, "/archive/x", gptbot, nil)
			if err != nil {
				return 0
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
			return resp.StatusCode
		}
		s.eventually("the server answers "+name, func() bool { return status() == 200 })
		attacker, answers := transport(), make(chan string, 80)
		for i := range cap(answers) {
			go func() {
				body, writer := io.Pipe()
				go fmt.Fprint(writer, strings.Repeat("x", i%2))
				resp, err := get(attacker, "/archive/h", crawlerNo(i), body)
				if err != nil {
					answers <- err.Error()
					return
				}
				answers <- resp.Status
			}()
		}
		for range 20 {
			if got := status(); got != 200 {
				t.Errorf("%s: a crawler gets %d beside idle bodies", name, got)
			}
		}
		for range cap(answers) {
			if got := <-answers; !strings.HasPrefix(got, "408") {
				t.Errorf("%s: an idle body gets %s", name, got)
			}
		}
		for range 4 {
			if resp, err := get(transport(), "/archive/big", gptbot, nil); err != nil || resp.StatusCode != 200 {
				t.Errorf("%s: %+v, %v", name, resp, err)
			}
		}
		s.eventually("slow readers leave their turns", func() bool { return status() == 200 })
		for i := range 100 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(t.Context(), time.Duration(i%10)*time.Millisecond)
			_, _ = get(attacker, "/archive/big", gptbot, nil)
			cancel()
		}
		ctx = t.Context()
		s.eventually("all turns are free", func() bool {
			for range 4 {
				resp, err := get(crawler, "/archive/big", gptbot, nil)
				if err != nil {
					return false
				}
				defer resp.Body.Close()
				if resp.StatusCode != 200 {
					return false
				}
			}
			return true
		})
	}
}
