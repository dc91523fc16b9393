package robots_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
)

// One of Google's crawlers may fetch a path if one of the two readings allows
// it.
func ExampleFile_GoogleReading() {
	f := robots.Parse([]byte("User-agent: *\nDisallow: /a/\nAllow: /a/index.html\n"))
	fmt.Println(f.Match("/a/", "Googlebot").Allowed)
	if g := f.GoogleReading(); g != nil {
		fmt.Println(g.Match("/a/", "Googlebot").Allowed)
	}
	for d := range f.GoogleDifferences() {
		fmt.Println(d.Line, d.Google)
	}
	// Output:
	// false
	// true
	// 3 Allow: /a/index.html
}
