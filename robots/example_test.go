package robots_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
)

const text = `User-agent: ExampleBot
Disallow: /private/
Allow: /private/press/
Crawl-delay: 2

User-agent: *
Disallow: /*?sort=
`

func Example() {
	f := robots.Parse([]byte(text))
	g := f.Group("ExampleBot-Image", "ExampleBot")
	for _, path := range []string{"/private/x.html", "/private/press/", "/list?sort=name"} {
		v := g.Match(path)
		fmt.Println(path, v.Allowed, v.Rule().Line)
	}
	delay, _ := g.CrawlDelay()
	fmt.Println(delay.Delay)
	// Output:
	// /private/x.html false 2
	// /private/press/ true 3
	// /list?sort=name true 0
	// 2s
}

// A server compares the rules with a target as requested and as served.
func ExampleGroup_MatchViews() {
	g := robots.Parse([]byte(text)).Group("ExampleBot")
	var views robots.Views
	for _, target := range []string{"/private%2fx.html", "/a/..//private/", "http://www.example.com/private/"} {
		views.Reset(target, robots.ViewOptions{})
		fmt.Println(g.Match(target).Allowed, g.MatchViews(&views).Allowed)
	}
	// Output:
	// true false
	// true false
	// false false
}

func ExampleFile_Lines() {
	for line := range robots.Parse([]byte("useragent: * # all\n\nDisallow /a\n")).Lines() {
		fmt.Printf("%d %q %q %q\n", line.Number, line.Directive, line.Key, line.Value)
	}
	// Output:
	// 1 "User-agent" "useragent" "*"
	// 2 "" "" ""
	// 3 "Disallow" "Disallow" "/a"
}
