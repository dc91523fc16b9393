package chromium

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestPageRecordsRequestsAndErrors(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>T</title><link rel=icon href=data:,><img src=/missing.png><script>
				console.error("said"); setTimeout(() => { document.title = "later"; throw new Error("thrown") })</script>`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)
	page := Open(t).NewPage()
	page.Run(chromedp.Navigate(site.URL + "/"))
	page.Eventually("the script ran", `document.title === "later"`)
	page.Run(chromedp.Evaluate(`1`, nil))
	if got := strings.Join(page.Requests(), " "); got != site.URL+"/ "+site.URL+"/missing.png" {
		t.Errorf("requests %s", got)
	}
	all := strings.Join(page.Errors(), "\n")
	for _, want := range []string{"404", "said", "thrown"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q among the errors:\n%s", want, all)
		}
	}
	page.Screenshot(filepath.Join(t.TempDir(), "page.png"))
}
