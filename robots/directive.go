package robots

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// Directive is the kind of a line of a robots.txt file.
type Directive uint8

const (
	DirectiveNone    Directive = iota // a blank line, or a line with only a comment (after a #)
	DirectiveUnknown                  // a line with a key that this package does not know
	DirectiveUserAgent
	DirectiveAllow
	DirectiveDisallow
	DirectiveCrawlDelay
	DirectiveRequestRate
	DirectiveVisitTime
	DirectiveSitemap
	DirectiveHost
	DirectiveCleanParam
	DirectiveNoindex
	DirectiveComment      // a line with the key Comment; a comment after a # is not a directive
	DirectiveRobotVersion // the version of the standard that a group is written for
	DirectiveContentSignal
	DirectiveContentUsage
	DirectiveLicense
)

// directiveKeys holds the keys of each directive that the parser accepts, the
// standard spelling first. It ignores their case. The misspellings of
// User-agent, Disallow and Sitemap are those that Google's parser accepts
// (google/robotstxt, robots.cc). The parser accepts no others, so that this
// package and Google's crawlers read the same lines.
var directiveKeys = [...][]string{
	DirectiveNone:          {""},
	DirectiveUnknown:       {"unknown"},
	DirectiveUserAgent:     {"User-agent", "useragent", "user agent"},
	DirectiveAllow:         {"Allow"},
	DirectiveDisallow:      {"Disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"},
	DirectiveCrawlDelay:    {"Crawl-delay", "crawldelay", "crawl delay", "crawl_delay"},
	DirectiveRequestRate:   {"Request-rate", "requestrate", "request rate", "request_rate"},
	DirectiveVisitTime:     {"Visit-time", "visittime", "visit time", "visit_time"},
	DirectiveSitemap:       {"Sitemap", "site-map"},
	DirectiveHost:          {"Host"},
	DirectiveCleanParam:    {"Clean-param", "clean-params"},
	DirectiveNoindex:       {"Noindex", "no-index"},
	DirectiveComment:       {"Comment"},
	DirectiveRobotVersion:  {"Robot-version"},
	DirectiveContentSignal: {"Content-Signal", "content-signals"},
	DirectiveContentUsage:  {"Content-Usage"},
	DirectiveLicense:       {"License"},
}

// String returns the directive's standard spelling, such as User-agent. It
// returns "" for DirectiveNone and "unknown" for DirectiveUnknown.
func (d Directive) String() string {
	if int(d) < len(directiveKeys) {
		return directiveKeys[d][0]
	}
	return DirectiveUnknown.String()
}

// decides reports whether the directive is User-agent, Allow or Disallow: the
// verdicts of a file depend only on lines with these.
func (d Directive) decides() bool { return DirectiveUserAgent <= d && d <= DirectiveDisallow }

// directives maps the keys, in lower case, to their directives.
var directives = func() map[string]Directive {
	m := map[string]Directive{}
	for d := DirectiveUserAgent; int(d) < len(directiveKeys); d++ {
		for _, key := range directiveKeys[d] {
			m[canonical.Lower(key)] = d
		}
	}
	return m
}()

// maxKey is at least the length of the longest key, in octets.
const maxKey = 16

// lookupDirective returns the directive of a key, DirectiveUnknown for none.
func lookupDirective(key string) Directive {
	var buf [maxKey]byte
	if len(key) > len(buf) {
		return DirectiveUnknown
	}
	for i := range len(key) {
		buf[i] = canonical.LowerOctet(key[i])
	}
	if d, ok := directives[string(buf[:len(key)])]; ok {
		return d
	}
	return DirectiveUnknown
}

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
