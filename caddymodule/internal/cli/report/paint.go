package report

import "github.com/caddy-robots/caddy-robots/robots/lint"

// Paint is true if text is in colour.
type Paint bool

// style is an SGR sequence (ECMA-48, section 8.3.117).
type style string

const (
	bold   style = "\x1b[1m"
	faint  style = "\x1b[2m"
	red    style = "\x1b[1;31m"
	green  style = "\x1b[1;32m"
	yellow style = "\x1b[1;33m"
	cyan   style = "\x1b[36m"

	endOfStyle = "\x1b[0m"
)

func (p Paint) in(s style, text string) string {
	if !p || text == "" {
		return text
	}
	return string(s) + text + endOfStyle
}

// Good, Bad and Odd paint text about a normal state, a problem, and something
// unusual.
func (p Paint) Good(text string) string { return p.in(green, text) }

// Bad is documented with Good.
func (p Paint) Bad(text string) string { return p.in(red, text) }

// Odd is documented with Good.
func (p Paint) Odd(text string) string { return p.in(yellow, text) }

func (p Paint) severity(s lint.Severity, text string) string {
	return p.in([...]style{lint.Info: cyan, lint.Warning: yellow, lint.Error: red}[min(s, lint.Error)], text)
}
