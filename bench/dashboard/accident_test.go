package dashboard

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/caddy-robots/caddy-robots/bench/internal/server"
)

// A deploy that shuts search engines out is said at the top of the page until it is
// mended.
func TestAccidentIsShown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "robots.txt")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("User-agent: *\nDisallow: /private/\n")
	s := server.Start(t, "http://localhost:$PORT {\n\trobots {\n\t\tsource file "+file+"\n\t}\n\thandle_path /ops/* {\n\t\trobots_dashboard {\n\t\t\taccess external\n\t\t}\n\t}\n\trespond hello\n}\n")
	page := open(t, s.URL("/ops/"), 1440)
	page.Eventually("all is well", `document.getElementById("banner").innerText.includes("All is well")`)
	refresh := func(text string) {
		write(text)
		resp, err := http.Post(s.AdminURL("/robots/refresh"), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	refresh("User-agent: *\nDisallow: /\n")
	page.Eventually("the accident is at the top", `document.getElementById("banner").className.includes("bad") && document.getElementById("banner").innerText.includes("now disallows / to all crawlers, by line 2") && document.getElementById("banner").innerText.includes("accept=on")`)
	refresh("")
	page.Eventually("it is another one", `document.querySelectorAll("#health li").length === 0 && document.getElementById("banner").innerText.includes("is empty: crawlers may fetch everything. Until")`)
	refresh("User-agent: *\nDisallow: /private/\nDisallow: /more/\n")
	page.Eventually("it is mended", `document.getElementById("banner").innerText.includes("All is well")`)
	checkClean(t, page, s.URL("/ops/"))
}
