package managed_test

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The lines of a policy are merged into a site's own file. The site's lines
// stay as they are.
func Example() {
	policy := managed.Policy{Deny: []managed.Deny{{Crawlers: []string{"GPTBot"}}}}
	lines, err := policy.Compile(crawler.Builtin())
	if err != nil {
		fmt.Println(err)
		return
	}
	merged, err := lines.Merge([]byte("User-agent: *\nDisallow: /cart/\n"), new(judge.Settings))
	if err != nil {
		fmt.Println(err)
		return
	}
	file := robots.Parse(merged.Text())
	fmt.Println("GPTBot may fetch /:", file.Allowed("GPTBot", "/"))
	fmt.Println("others may fetch /:", file.Allowed("OtherBot", "/"))
	fmt.Println("the site's lines stay:", strings.HasPrefix(string(merged.Text()), "User-agent: *\nDisallow: /cart/\n"))
	// Output:
	// GPTBot may fetch /: false
	// others may fetch /: true
	// the site's lines stay: true
}
