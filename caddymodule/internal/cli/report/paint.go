package report

import "github.com/caddy-robots/caddy-robots/robots/lint"

// Paint colours text for a terminal if it is true.
type Paint bool

// style is an escape sequence for a colour or font (SGR; ECMA-48, section 8.3.117).
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

// Good colours text about a normal state.
func (p Paint) Good(text string) string { return p.in(green, text) }

// Bad colours text about a problem.
func (p Paint) Bad(text string) string { return p.in(red, text) }

// Odd colours text about something unusual.
func (p Paint) Odd(text string) string { return p.in(yellow, text) }

func (p Paint) severity(s lint.Severity, text string) string {
	return p.in([...]style{lint.Info: cyan, lint.Warning: yellow, lint.Error: red}[min(s, lint.Error)], text)
}
