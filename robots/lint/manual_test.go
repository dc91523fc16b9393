package lint

import (
	"fmt"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/pages"
)

// docs/lint-checks.md has all checks. Each has an anchor.
func TestManual(t *testing.T) {
	pages.Check(t, "../../docs/lint-checks.md", *update, func(words []string) string {
		rows := ""
		for _, c := range Checks() {
			if c.Severity.String() == words[0] {
				rows += fmt.Sprintf("- <a id=%q></a>`%[1]s`: %s\n", c.Code, c.Title)
			}
		}
		return rows
	})
}
