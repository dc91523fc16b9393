package robots_test

import (
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

func ExampleBuilder() {
	text, err := new(robots.Builder).
		Group("ABot", "BBot").
		Disallow("/private/").
		Allow("/private/press/").
		CrawlDelay(robots.CrawlDelay{Delay: 2 * time.Second}).
		Group("*").
		Disallow("").
		Sitemap("https://example.com/sitemap.xml").
		Text()
	fmt.Print(text)
	fmt.Println(err)
	// Output:
	// User-agent: ABot
	// User-agent: BBot
	// Disallow: /private/
	// Allow: /private/press/
	// Crawl-delay: 2
	//
	// User-agent: *
	// Disallow:
	//
	// Sitemap: https://example.com/sitemap.xml
	// <nil>
}
