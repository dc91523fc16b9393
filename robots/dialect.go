package robots

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// Dialect is a version of the robots.txt language.
type Dialect uint8

const (
	// RFC9309 is the language of RFC 9309: the longest matching rule wins,
	// `*` and `$` are special.
	RFC9309 Dialect = iota
	// Koster1994 is the language of the original standard: a blank line ends a
	// record, the first matching rule wins, in the order of the file, and no
	// octet of a path is special.
	Koster1994
	// Kollar1996 is the language of "Robot Exclusion Standard Revisited": like
	// Koster1994, but with several product tokens on a User-agent line and
	// several paths on an Allow or Disallow line, separated by blanks.
	Kollar1996
	// Google is the language as google/robotstxt, the parser of Google's
	// crawlers, reads it: RFC9309 with the differences that
	// File.GoogleDifferences returns. ParseDialect does not accept it, since no
	// file is written for it alone.
	Google
)

var dialectNames = [...]string{RFC9309: "rfc9309", Koster1994: "1994", Kollar1996: "1996", Google: "google"}

// ParseDialect returns the dialect that s names: rfc9309, 1994 or 1996.
func ParseDialect(s string) (Dialect, error) {
	for d, name := range dialectNames[:Google] {
		if strings.EqualFold(s, name) {
			return Dialect(d), nil
		}
	}
	return RFC9309, fmt.Errorf("unknown robots.txt dialect %q: want rfc9309, 1994 or 1996", s)
}

// String returns the name that ParseDialect reads.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("Dialect(%d)", uint8(d))
}

// lists reports whether blanks separate several values on one line.
func (d Dialect) lists() bool { return d == Kollar1996 }

// firstMatch reports whether the first matching rule wins, and no octet of a
// pattern is special.
func (d Dialect) firstMatch() bool { return d == Koster1994 || d == Kollar1996 }

// Syntax returns the syntax of patterns in the dialect. It is for packages lint
// and diff.
func (d Dialect) Syntax() pattern.Syntax {
	switch d {
	case Koster1994, Kollar1996:
		return pattern.Literal
	case Google:
		return pattern.Google
	}
	return pattern.RFC9309
}
