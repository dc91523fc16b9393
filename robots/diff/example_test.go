package diff_test

import (
	"fmt"
	"strings"

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

// A program that disallows everything to one crawler proves that nothing
// changes for all others.
func ExampleUnaffected() {
	before := robots.Parse([]byte("User-agent: *\nDisallow: /a/\n"))
	inside := func(token string) bool { return strings.EqualFold(token, "ExampleBot") }

	after := robots.Parse([]byte("User-agent: ExampleBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a/\n"))
	r := diff.Unaffected(before, after, inside)
	fmt.Println(r.Same())

	// Both User-agent lines belong to one group, so the new rule applies to all
	// crawlers.
	after = robots.Parse([]byte("User-agent: ExampleBot\nUser-agent: *\nDisallow: /\n"))
	r = diff.Unaffected(before, after, inside)
	fmt.Println(r.Same(), r.Changes[0].Crawlers, r.Changes[0].New)
	// Output:
	// true
	// false [*] Disallow: /
}
