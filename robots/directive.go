package robots

import "github.com/caddy-robots/caddy-robots/internal/canonical"

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
