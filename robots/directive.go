package robots

import "github.com/caddy-robots/caddy-robots/robots/internal/canonical"

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

// directiveNames holds the standard spelling of each directive.
var directiveNames = [...]string{
	DirectiveNone:          "",
	DirectiveUnknown:       "unknown",
	DirectiveUserAgent:     "User-agent",
	DirectiveAllow:         "Allow",
	DirectiveDisallow:      "Disallow",
	DirectiveCrawlDelay:    "Crawl-delay",
	DirectiveRequestRate:   "Request-rate",
	DirectiveVisitTime:     "Visit-time",
	DirectiveSitemap:       "Sitemap",
	DirectiveHost:          "Host",
	DirectiveCleanParam:    "Clean-param",
	DirectiveNoindex:       "Noindex",
	DirectiveComment:       "Comment",
	DirectiveRobotVersion:  "Robot-version",
	DirectiveContentSignal: "Content-Signal",
	DirectiveContentUsage:  "Content-Usage",
	DirectiveLicense:       "License",
}

// String returns the directive's standard spelling, such as User-agent. It
// returns "" for DirectiveNone and "unknown" for DirectiveUnknown.
func (d Directive) String() string {
	if int(d) < len(directiveNames) {
		return directiveNames[d]
	}
	return directiveNames[DirectiveUnknown]
}

// spellings maps each key that the parser accepts, in lower case, to its
// directive. The misspellings of User-agent, Disallow and Sitemap are those
// that Google's parser accepts (google/robotstxt, robots.cc). The parser
// accepts no others, so that this package and Google's crawlers read the same
// lines.
var spellings = map[string]Directive{
	"user-agent": DirectiveUserAgent, "useragent": DirectiveUserAgent, "user agent": DirectiveUserAgent,
	"allow":    DirectiveAllow,
	"disallow": DirectiveDisallow, "dissallow": DirectiveDisallow, "dissalow": DirectiveDisallow,
	"disalow": DirectiveDisallow, "diasllow": DirectiveDisallow, "disallaw": DirectiveDisallow,
	"crawl-delay": DirectiveCrawlDelay, "crawldelay": DirectiveCrawlDelay,
	"crawl delay": DirectiveCrawlDelay, "crawl_delay": DirectiveCrawlDelay,
	"request-rate": DirectiveRequestRate, "requestrate": DirectiveRequestRate,
	"request rate": DirectiveRequestRate, "request_rate": DirectiveRequestRate,
	"visit-time": DirectiveVisitTime, "visittime": DirectiveVisitTime,
	"visit time": DirectiveVisitTime, "visit_time": DirectiveVisitTime,
	"sitemap": DirectiveSitemap, "site-map": DirectiveSitemap,
	"host":        DirectiveHost,
	"clean-param": DirectiveCleanParam, "clean-params": DirectiveCleanParam,
	"noindex": DirectiveNoindex, "no-index": DirectiveNoindex,
	"comment":        DirectiveComment,
	"robot-version":  DirectiveRobotVersion,
	"content-signal": DirectiveContentSignal, "content-signals": DirectiveContentSignal,
	"content-usage": DirectiveContentUsage,
	"license":       DirectiveLicense,
}

// maxSpelling is at least the length of the longest spelling, in octets.
const maxSpelling = 16

// lookupDirective returns the directive of a key, DirectiveUnknown for none.
func lookupDirective(key string) Directive {
	var buf [maxSpelling]byte
	if len(key) > len(buf) {
		return DirectiveUnknown
	}
	for i := range len(key) {
		buf[i] = canonical.LowerOctet(key[i])
	}
	if d, ok := spellings[string(buf[:len(key)])]; ok {
		return d
	}
	return DirectiveUnknown
}
