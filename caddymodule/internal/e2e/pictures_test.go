package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var pictures = flag.Bool("pictures", false, "draw the pictures of the dashboard in docs again, with Chromium")

const pictured = `{
	servers {
		trusted_proxies static 127.0.0.0/8 ::1/128
	}
}
http://shop.example.com:$PORT, http://www.example.com:$PORT {
	robots {
		source inline <<TXT
			# robots.txt of the shop
			User-agent: *
			Disallow: /private/
			Disallow: /cart
			Disallow: /search?
			Allow: /private/press/

			User-agent: GPTBot
			User-agent: ClaudeBot
			User-agent: CCBot
			Disallow: /

			User-agent: bingbot
			Crawl-delay: 10
			Disallow: /*.pdf$

			User-agent: AhrefsBot
			Request-rate: 2/1m
			Disallow: /private/

			Sitemap: https://shop.example.com/sitemap.xml
			TXT
		publish
	}
	respond page
}
http://localhost:$PORT {
	robots_dashboard {
		access external
		all_sites
	}
}
`

// The pictures in docs show the dashboard after an hour of a shop, and on a phone when a crawler
// then floods it. They are drawn by
//
//	go test ./caddymodule/internal/e2e -run TestPictures -pictures
func TestPictures(t *testing.T) {
	if !*pictures {
		return
	}
	s := start(t, pictured)
	visitors := []struct {
		ua, host, path string
		each           int // requests in a minute, at least
	}{
		{googlebot, "shop.example.com", "/products/table", 9},
		{googlebot, "www.example.com", "/blog/", 3},
		{gptbot, "shop.example.com", "/products/bed", 5},
		{bingbot, "shop.example.com", "/products/chair", 5},
		{"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "shop.example.com", "/about", 3},
		{"ClaudeBot/1.0", "shop.example.com", "/search?q=table", 2},
		{"Amazonbot/0.1", "shop.example.com", "/search?q=bed", 1},
		{"CCBot/2.0 (https://commoncrawl.org/faq/)", "www.example.com", "/", 1},
		{chrome, "shop.example.com", "/", 20},
		{chrome, "www.example.com", "/blog/", 10},
	}
	for minute := range 60 {
		s.pass(time.Minute)
		for i, v := range visitors {
			url := fmt.Sprintf("http://localhost:%d%s", s.port, v.path)
			for range v.each + (minute*(7+i))%13%(v.each+1) {
				s.do(http.MethodGet, url, v.ua, v.host, http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", i)}})
			}
		}
		s.adminRequest(http.MethodGet, "", 200, nil) // counts what has come
	}
	draw := func(name, size string) {
		t.Helper()
		out, err := exec.Command("chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--user-agent="+chrome, "--window-size="+size, "--virtual-time-budget=5000",
			"--screenshot="+filepath.Join(root(t), "docs", name+".png"), fmt.Sprintf("http://localhost:%d/", s.port)).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	draw("dashboard", "1440,1640")
	for range 400 {
		s.at("shop.example.com", "Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)", "/products/bed")
	}
	draw("dashboard-phone", "500,1200")
}
