package diff_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

func Example() {
	before := robots.Parse([]byte("User-agent: *\nDisallow: /a/\n"))
	after := robots.Parse([]byte("User-agent: *\nDisallow: /a/\nDisallow: /*.pdf$\n"))
	for _, c := range diff.Compare(before, after).Changes {
		fmt.Println(c.Crawlers, c.What, c.New, c.Paths)
	}
	// Output:
	// [*] verdict Disallow: /*.pdf$ [/x.pdf /.pdf]
}
