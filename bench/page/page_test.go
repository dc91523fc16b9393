package page

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/bench/internal/chromium"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/page"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// The page requests nothing and has no errors, both from a file and from a server.
func TestPageRequestsNothing(t *testing.T) {
	b := chromium.Open(t)
	var text bytes.Buffer
	if err := page.Write(&text, sample(t)); err != nil {
		t.Fatal(err)
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text.Bytes())
	}))
	t.Cleanup(server.Close)
	for _, url := range []string{file(t, sample(t)), server.URL + "/report.html"} {
		tab := open(t, b, url, 1280)
		clean(t, tab, url)
		if got := chromium.Eval[string](tab, `getComputedStyle(document.querySelector("table")).borderCollapse`); got != "separate" {
			t.Errorf("%s: the style does not apply", url)
		}
	}
	if !slices.Equal(asked, []string{"/report.html"}) {
		t.Errorf("the server got requests for %q", asked)
	}
}

// The page of a real audit shows its figures.
func TestPageOfAnAudit(t *testing.T) {
	var log strings.Builder
	for i := range 600 {
		agent, path := "GPTBot/1.2", "/private/x"
		switch i % 3 {
		case 1:
			agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
		case 2:
			agent, path = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/robots.txt"
		}
		fmt.Fprintf(&log, "192.0.2.%d - - [%02d/Nov/2026:10:00:00 +0000] \"GET %s HTTP/1.1\" 200 12 \"-\" \"%s\"\n", i%250, 1+i/30, path, agent)
	}
	r, err := audit.Run(t.Context(), audit.Options{
		Files: []logfile.File{{Name: "access.log", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(log.String())), nil }}},
		Sites: []audit.Site{{Robots: []audit.Version{{Name: "robots.txt", Response: judge.Response{Status: 200, Body: []byte("User-agent: GPTBot\nDisallow: /private/\nDisallow: /never/\n")}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	url := file(t, r)
	tab := open(t, chromium.Open(t), url, 1280)
	text := chromium.Eval[string](tab, `document.body.innerText`)
	for _, want := range []string{"200 of 400 requests from clients that identify themselves as robots would have been refused", "GPTBot 200", "never applied", "200 × 200"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
	clean(t, tab, url)
}

// Markup in the texts of strangers is shown as text.
func TestHostileTexts(t *testing.T) {
	b := chromium.Open(t)
	for _, text := range []string{
		`</script><script>window.hacked = 1</script><img src="https://example.com/x" onerror="window.hacked = 1">`,
		`"><svg onload="window.hacked = 1"><style>@import "https://example.com/x"</style>`,
		`javascript:window.hacked = 1//' onfocus='window.hacked = 1' autofocus='`,
		"\u202e\u0000\u001b[31m<plaintext>",
	} {
		url := file(t, hostile(t, text))
		tab := open(t, b, url, 1280)
		if chromium.Eval[bool](tab, `"hacked" in window`) {
			t.Errorf("the script in %q was executed", text)
		}
		if !chromium.Eval[bool](tab, `document.querySelector("footer").textContent.includes("caddy robots audit")`) {
			t.Errorf("after %q, the page has no footer", text)
		}
		clean(t, tab, url)
	}
}
