package shed

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

var update = flag.Bool("update", false, "write the generated part of the page")

// The page has the kinds of crawlers in the order in which they are refused.
func TestOverloadPage(t *testing.T) {
	pages.Check(t, "README.md", *update, func(words []string) string {
		if words[0] != "steps" {
			return ""
		}
		var b strings.Builder
		for _, k := range kinds {
			purposes := make([]string, len(k.purposes))
			for i, p := range k.purposes {
				purposes[i] = "`" + string(p) + "`"
			}
			if k.name == "self-declared" {
				purposes = []string{"clients that declare themselves or that only robots.txt names, and all purposes that are not below"}
			}
			fmt.Fprintf(&b, "- `%s`: %s\n", k.name, strings.Join(purposes, ", "))
		}
		return b.String()
	})
}
