package robots_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
)

func ExampleFile_Allowed() {
	f := robots.Parse([]byte("User-agent: *\nDisallow: /private/\n"))
	fmt.Println(f.Allowed("ExampleBot", "https://example.com/private/x.html"))
	fmt.Println(f.Allowed("ExampleBot", "/index.html"))
	// Output:
	// false
	// true
}

// If a crawler obeys several product tokens, the group of the first one that
// has a group applies.
func ExampleFile_Match() {
	f := robots.Parse([]byte("User-agent: Googlebot\nDisallow: /photos/\n\nUser-agent: *\nDisallow: /\n"))
	v := f.Match("/photos/1.jpg", "Googlebot-Image", "Googlebot")
	fmt.Println(v.Allowed, v.Rule().Line, v.Rule())
	// Output:
	// false 2 Disallow: /photos/
}

// Crawlers that the same User-agent lines name share a group.
func ExampleFile_Groups() {
	f := robots.Parse([]byte("User-agent: ABot\nUser-agent: BBot\nDisallow: /a\nCrawl-delay: 2\n\nUser-agent: *\nAllow: /\n"))
	for _, g := range f.Groups() {
		fmt.Println(g.Line(), g.Tokens(), g.Rules())
	}
	// Output:
	// 1 [ABot BBot] [Disallow: /a]
	// 6 [*] [Allow: /]
}
