package lint_test

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

func ExampleLint() {
	f := robots.Parse([]byte("User-agent: *\nDissallow: private/\nDisallow: /a\nAllow: /a*\n"))
	for _, x := range lint.Lint(f) {
		if x.Severity == lint.Info {
			continue
		}
		fmt.Printf("%d:%d %s %s: %s\n", x.Line, x.Column, x.Severity, x.Code, x.Message)
	}
	// Output:
	// 2:1 warning misspelt-key: only Google accepts the spelling "Dissallow"; write Disallow
	// 2:12 error missing-slash: the path does not start with a slash
	// 3:11 warning contradiction: line 4 ("Allow: /a*") covers the same paths, and decides
}

// A comment in the file suppresses findings, on its line or the next.
func ExampleLint_suppression() {
	f := robots.Parse([]byte("User-agent: *\n# robots-lint: ignore misspelt-key\nDissallow: /a\n"))
	fmt.Println(len(lint.Lint(f)))
	// Output:
	// 0
}
