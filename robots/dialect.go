package robots

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// Dialect is a version of the robots.txt language.
type Dialect uint8

const (
	// RFC9309 is the language of RFC 9309: the longest matching rule decides,
	// and `*` and `$` have a special meaning.
	RFC9309 Dialect = iota
	// Koster1994 is the language of the original standard: a blank line ends a
	// group (the standard calls it a record), the first matching rule in the
	// group decides, and no octet of a path has a special meaning.
	Koster1994
	// Kollar1996 is the language of "Robot Exclusion Standard Revisited": as
	// Koster1994, but a User-agent line may have several product tokens, and an
	// Allow or Disallow line several paths, separated by blanks.
	Kollar1996
	// Google is the language of google/robotstxt, the parser of Google's
	// crawlers: RFC9309 with the differences that File.GoogleDifferences
	// returns. ParseDialect does not accept it, since sites do not write files
	// for this parser alone.
	Google
)

var dialectNames = [...]string{RFC9309: "rfc9309", Koster1994: "1994", Kollar1996: "1996", Google: "google"}

// ParseDialect returns the dialect with the name s: rfc9309, 1994 or 1996. It
// ignores case.
func ParseDialect(s string) (Dialect, error) {
	for d, name := range dialectNames[:Google] {
		if strings.EqualFold(s, name) {
			return Dialect(d), nil
		}
	}
	return RFC9309, fmt.Errorf("unknown robots.txt dialect %q: want rfc9309, 1994 or 1996", s)
}

// String returns the name of the dialect: rfc9309, 1994, 1996 or google.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("Dialect(%d)", uint8(d))
}

// lists reports whether a line may have several values, separated by blanks.
func (d Dialect) lists() bool { return d == Kollar1996 }

// firstMatch reports whether the first matching rule decides. In these
// dialects, no octet of a pattern has a special meaning.
func (d Dialect) firstMatch() bool { return d == Koster1994 || d == Kollar1996 }

// Syntax returns the syntax of patterns in the dialect. Only packages lint and
// diff need it.
func (d Dialect) Syntax() pattern.Syntax {
	switch d {
	case Koster1994, Kollar1996:
		return pattern.Literal
	case Google:
		return pattern.Google
	}
	return pattern.RFC9309
}
