package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestFileChangesUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	texts := []string{
		"User-agent: *\nDisallow: /always/\nDisallow: /one/\n",
		"User-agent: *\nDisallow: /always/\nDisallow: /two/\n" + strings.Repeat("# filler\n", 2000),
	}
	replace := func(text string) {
		writeFile(t, path+".new", text)
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	replace(texts[0])
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tsource file "+path+"\n\t\tpublish\n\t}\n\trespond hello\n}\n")
	var stop atomic.Bool
	var load sync.WaitGroup
	base := fmt.Sprintf("http://localhost:%d", s.port)
	for _, c := range []struct {
		ua, path string
		ok       func(response) bool
	}{
		{chrome, "/always/x", func(r response) bool { return r.status == 200 && r.body == "hello" }},
		{chrome, "/one/x", func(r response) bool { return r.status == 200 && r.body == "hello" }},
		{googlebot, "/always/x", func(r response) bool { return r.status == 403 }},
		{googlebot, "/never/x", func(r response) bool { return r.status == 200 }},
		{googlebot, "/one/x", func(r response) bool { return r.status == 200 || r.status == 403 }},
		{googlebot, "/robots.txt", func(r response) bool { return r.status == 200 && (r.body == texts[0] || r.body == texts[1]) }},
	} {
		load.Go(func() {
			for !stop.Load() {
				got, err := send(client, http.MethodGet, base+c.path, c.ua, "", nil)
				if err != nil || !c.ok(got) {
					t.Errorf("%s for %.30s: status %d, %v", c.path, c.ua, got.status, err)
					return
				}
				time.Sleep(time.Millisecond) // leave the other tests some of the processor
			}
		})
	}
	for i := range 4 {
		next := (i + 1) % 2
		replace(texts[next])
		denied := []string{"/one/x", "/two/x"}[next]
		s.eventually("the new file is in force", func() bool { return s.get(googlebot, denied).status == 403 })
	}
	stop.Store(true)
	load.Wait()
}

// Requests over HTTP/2 differ from HTTP/1.1: the authority is a pseudo-header
// field, and fields with the same name are separate.
func TestSpellingsOverHTTP2(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	s := start(t, fmt.Sprintf("https://localhost:%d {\n\troot testdata/site\n\trobots\n\tfile_server\n}\n", port))
	h2 := http2Client(port)
	t.Cleanup(h2.CloseIdleConnections)
	base := fmt.Sprintf("https://localhost:%d", port)
	s.eventually("there is a certificate", func() bool {
		_, err := send(h2, http.MethodGet, base+"/", chrome, "", nil)
		return err == nil
	})
	ask := func(method, target string, agents ...string) response {
		t.Helper()
		req, err := http.NewRequest(method, base+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header["User-Agent"] = agents
		resp, err := h2.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.ProtoMajor != 2 {
			t.Fatalf("%s came over %s", target, resp.Proto)
		}
		return response{status: resp.StatusCode, header: resp.Header}
	}
	for _, target := range spellingsOfPlan {
		if !strings.HasPrefix(target, "/") {
			continue // HTTP/2 has no absolute form
		}
		s.wants(403, ask(http.MethodGet, target, googlebot), target)
	}
	for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodOptions, http.MethodDelete} {
		s.wants(403, ask(method, "/private/plan.html", googlebot), method)
	}
	s.wants(200, ask(http.MethodHead, "/private/plan.html", chrome), "HEAD for a person")
	s.wants(200, ask(http.MethodGet, "/private/press/kit.html", googlebot), "an allowed page")
	s.wants(200, ask(http.MethodGet, "/private/plan.html"), "no User-Agent")
	s.wants(403, ask(http.MethodGet, "/", gptbot+strings.Repeat(" x", 8000)), "a User-Agent of 16 KB")
}
