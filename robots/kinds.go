package robots

import (
	"maps"
	"slices"
)

// Kind explains a kind of finding.
type Kind struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`
	Why      string   `json:"why"` // why it matters, and to whom
}

// Kinds returns all kinds of findings, by code.
func Kinds() []Kind {
	var list []Kind
	for _, code := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[code]
		k.Code = code
		list = append(list, k)
	}
	return list
}

// kinds is all that the linter finds. What Google's parser makes of a line is
// from its source (google/robotstxt, robots.cc); which readers know no Allow,
// no wildcards and no blank lines was tried with wget, wget2, HTTrack, LWP,
// linkchecker and Python's urllib.robotparser.
var kinds = map[string]Kind{
	// The file as a whole.
	"html-page": {Severity: Error, Title: "the file is an HTML page",
		Why: "crawlers find no rules in it and crawl everything; sites often send a page for a robots.txt that they do not have"},
	"binary": {Severity: Error, Title: "the file is not text",
		Why: "robots.txt is UTF-8 text (RFC 9309, section 2.3); crawlers find no rules in this"},
	"utf-16": {Severity: Error, Title: "the file is in UTF-16",
		Why: "robots.txt is UTF-8 text (RFC 9309, section 2.3); crawlers find no rules in this"},
	"not-utf-8": {Severity: Warning, Title: "octets that are not UTF-8",
		Why: "robots.txt is UTF-8 text (RFC 9309, section 2.3); a path in another encoding matches only URLs in that encoding"},
	"byte-order-mark": {Severity: Info, Title: "a byte order mark",
		Why: "Google and most others skip it; a reader that does not takes it for part of the first line, which is then lost"},
	"too-large": {Severity: Error, Title: "more than 500 KiB",
		Why: "crawlers need not read beyond 500 KiB (RFC 9309, section 2.5), and Google does not: the rules there do nothing"},
	"not-at-root": {Severity: Error, Title: "not at /robots.txt",
		Why: "crawlers ask for /robots.txt at the root of a host, and for no other (RFC 9309, section 2.3)"},
	"mixed-line-endings": {Severity: Info, Title: "different line endings",
		Why: "each is valid; mixed, they come from tools that disagree, and diffs and editors show lines that did not change"},
	"cr-line-endings": {Severity: Warning, Title: "lines end in CR alone",
		Why: "valid (RFC 9309, section 2.2), but readers of lines that end in LF see one line, and no rules"},

	// Lines.
	"misspelt-key": {Severity: Warning, Title: "a key misspelt",
		Why: "Google's parser reads a few misspellings; all others ignore the line"},
	"missing-colon": {Severity: Warning, Title: "no colon between key and value",
		Why: "Google's parser reads a line of two words so; all others ignore it"},
	"upper-case-key": {Severity: Info, Title: "a key in capitals",
		Why: "valid, since keys are compared without regard to case, and harder to read"},
	"unknown-key": {Severity: Warning, Title: "a key that crawlers do not know",
		Why: "the line does nothing"},
	"prose": {Severity: Warning, Title: "text that is no line of robots.txt",
		Why: "the line does nothing; text for people stands after a #"},
	"leading-blanks": {Severity: Info, Title: "blanks before the key",
		Why: "most readers skip them; one that does not, as the 1994 standard has it, misses the line"},
	"trailing-comment": {Severity: Info, Title: "a comment after a value",
		Why: "valid (RFC 9309, section 2.2); readers that split at the first colon alone take it for part of the value"},
	"hash-in-path": {Severity: Warning, Title: "a # within a path",
		Why: "what follows is a comment, so the rule is for a shorter path; a # in a path is written %23"},
	"line-too-long": {Severity: Warning, Title: "a line of more than 16,664 octets",
		Why: "Google's parser cuts it there"},

	// User-agent lines.
	"empty-user-agent": {Severity: Error, Title: "a User-agent line without a product token",
		Why: "the group is for no crawler"},
	"path-in-user-agent": {Severity: Error, Title: "a path where a product token belongs",
		Why: "the group is for no crawler; paths belong on Disallow and Allow lines"},
	"whole-user-agent": {Severity: Warning, Title: "a whole User-Agent where a product token belongs",
		Why: "crawlers look for their product token (RFC 9309, section 2.2.1) and compare no further than the first / or blank, which here is no crawler's token"},
	"version-in-user-agent": {Severity: Info, Title: "a version after the product token",
		Why: "versions are not compared (RFC 9309, section 2.2.1): the group is for every version"},
	"several-user-agents": {Severity: Error, Title: "several crawlers on one User-agent line",
		Why: "one line names one crawler (RFC 9309, section 2.2.1); all but the first are not bound, and often not even that"},
	"control-token": {Severity: Info, Title: "a token that no request carries",
		Why: "its operator reads it in this file to decide what to do with pages that another crawler fetched; a server can't enforce it"},
	"split-group": {Severity: Info, Title: "a crawler named by several groups",
		Why: "RFC 9309, section 2.2.1 merges them; Python's urllib and others read the first one only"},
	"group-without-rules": {Severity: Warning, Title: "a group without rules",
		Why: "the crawler is allowed everything, also what the group * disallows; an empty Disallow says that outright"},
	"joined-groups": {Severity: Error, Title: "a blank line does not end a group without rules",
		Why: "RFC 9309, section 2.2.1 and Google read the User-agent lines above and below as one group; a \"Disallow:\" above the blank line keeps them apart"},
	"blank-line-in-group": {Severity: Info, Title: "a blank line within a group",
		Why: "RFC 9309 gives it no meaning; for urllib, LWP and linkchecker it ends the group, and the rules after it are lost"},

	// Rules.
	"rule-outside-group": {Severity: Error, Title: "a rule before any User-agent line",
		Why: "it is for no crawler and does nothing (RFC 9309, section 2.2.2)"},
	"field-outside-group": {Severity: Warning, Title: "a limit before any User-agent line",
		Why: "it is for no crawler; few readers take it for all"},
	"missing-slash": {Severity: Error, Title: "a path without its leading slash",
		Why: "paths start with a slash (RFC 9309, section 2.2.2): the rule never matches"},
	"inverted-syntax": {Severity: Error, Title: "a crawler where a path belongs",
		Why: "to shut out one crawler, name it on a User-agent line and disallow /; as it stands the rule never matches"},
	"url-as-path": {Severity: Error, Title: "an address where a path belongs",
		Why: "rules are for the host that the file is on and hold paths only: the rule never matches"},
	"several-paths": {Severity: Error, Title: "several paths on one line",
		Why: "the line is one path with blanks in it; only readers of the dialect of 1996 see several"},
	"blank-in-path": {Severity: Warning, Title: "a blank within a path",
		Why: "URLs hold it as %20; readers that do not encode rules never match it"},
	"disallow-star": {Severity: Info, Title: "a * for the whole site",
		Why: "readers of the 1994 standard (wget, HTTrack, LWP, linkchecker, urllib) know no * and are not bound; / says the same to all"},
	"trailing-star": {Severity: Info, Title: "a * at the end of a path",
		Why: "a rule holds for all that begins with its path; readers that know no * never match it"},
	"regular-expression": {Severity: Warning, Title: "a regular expression where a path belongs",
		Why: "only * and a $ at the end are special (RFC 9309, section 2.2.3); other signs stand for themselves"},
	"dollar-within": {Severity: Info, Title: "a $ that is not at the end of a path",
		Why: "it stands for itself there (RFC 9309, section 2.2.3)"},
	"invalid-escape": {Severity: Warning, Title: "a % that begins no escape",
		Why: "readers disagree on what it matches; a percent sign in a path is written %25"},
	"invisible-character": {Severity: Warning, Title: "a character that is not seen",
		Why: "no-break and zero-width spaces come with text copied from a page; the rule is for paths that have them"},
	"unencoded-path": {Severity: Info, Title: "a path with octets that URLs hold encoded",
		Why: "RFC 9309, section 2.2.2 encodes rules before it compares; readers that do not never match it"},
	"wildcard-unread": {Severity: Warning, Title: "a wildcard for a crawler that knows none",
		Why: "to wget, wget2, HTTrack, LWP, linkchecker and urllib * and $ are octets like others"},
	"allow-unread": {Severity: Warning, Title: "an Allow line for a crawler that knows none",
		Why: "LWP, wget2 and HTTrack skip it; so does every reader of the 1994 standard"},
	"allow-after-disallow": {Severity: Info, Title: "an exception after the rule that it is from",
		Why: "the order does not matter to RFC 9309; to urllib and other readers that take the first match the exception comes too late"},
	"robots-txt-rule": {Severity: Info, Title: "a rule for /robots.txt",
		Why: "/robots.txt is always allowed (RFC 9309, section 2.2.2)"},
	"search-engine-shut-out": {Severity: Warning, Title: "a search engine is shut out of the whole site",
		Why: "pages that it may not fetch leave its results, or stay there without a description"},
	"contradiction": {Severity: Warning, Title: "a rule that another one contradicts",
		Why: "they match the same paths: Allow wins with RFC 9309, the first of them with readers of the 1994 standard"},
	"never-decides": {Severity: Warning, Title: "a rule that never decides",
		Why: "a rule of at least as many octets matches wherever this one does (RFC 9309, section 2.2.2)"},
	"without-effect": {Severity: Info, Title: "a rule without effect",
		Why: "without it every path has the same verdict"},
	"list-of-files": {Severity: Info, Title: "many paths of one folder",
		Why: "a rule holds for all that begins with its path; a list tells everyone what is there, and forgets what comes later"},
	"analysis-limited": {Severity: Info, Title: "not all was looked at",
		Why: "the file has too many lines, or too many rules with wildcards to compare each with each"},

	// Other lines.
	"malformed-crawl-delay": {Severity: Warning, Title: "a Crawl-delay that is no number of seconds",
		Why: "the line does nothing"},
	"malformed-request-rate": {Severity: Warning, Title: "a Request-rate that is not requests/time",
		Why: "the line does nothing; it reads N/T[s|m|h] [hhmm-hhmm]"},
	"malformed-window": {Severity: Warning, Title: "times that are not hhmm-hhmm",
		Why: "the rate holds all day"},
	"malformed-visit-time": {Severity: Warning, Title: "a Visit-time that is not hhmm-hhmm",
		Why: "the line does nothing"},
	"malformed-content-signal": {Severity: Warning, Title: "a Content-Signal without key=value",
		Why: "the line does nothing"},
	"malformed-content-usage": {Severity: Warning, Title: "a Content-Usage without key=value",
		Why: "the line does nothing"},
	"crawl-delay-unread": {Severity: Info, Title: "a Crawl-delay for a crawler that obeys none",
		Why: "Google, Yandex and Amazonbot document that they do not read it"},
	"long-crawl-delay": {Severity: Warning, Title: "a Crawl-delay of more than an hour",
		Why: "the unit is seconds; Bing reads 1 to 30, others cap it or give up on the site"},
	"several-crawl-delays": {Severity: Warning, Title: "several Crawl-delay lines for one crawler",
		Why: "readers differ on which counts: the first, the last or the largest; the shortest is enforced"},
	"noindex-line": {Severity: Warning, Title: "a Noindex line",
		Why: "no crawler reads it; Google stopped on 2019-09-01. An X-Robots-Tag header says it"},
	"relative-sitemap": {Severity: Warning, Title: "a Sitemap that is no absolute URL",
		Why: "sitemaps.org and Google's documentation ask for a full URL"},
	"duplicate-sitemap": {Severity: Info, Title: "a Sitemap named twice", Why: "once is enough"},
	"relative-license": {Severity: Warning, Title: "a License that is no absolute URL",
		Why: "RSL 1.0 has a full URL here"},
}

// controlTokens are product tokens that stand only in robots.txt (Google's
// and Apple's documentation of their crawlers).
var controlTokens = []string{"Google-Extended", "Applebot-Extended"}

// searchEngines are the crawlers of the large search engines, with the tokens
// that each obeys.
var searchEngines = [][]string{
	{"Googlebot"}, {"Bingbot"}, {"YandexBot", "Yandex"}, {"Baiduspider"}, {"DuckDuckBot"}, {"Applebot", "Googlebot"}, {"Slurp"},
}

// reader is what a crawler does not read.
type reader struct{ noAllow, noWildcards, noDelay bool }

// readers are crawlers that read less than others do, by product token in
// lower case. That Google's, Yandex's and Amazon's do not read Crawl-delay is
// what their operators document.
var readers = map[string]reader{
	"wget":                 {noWildcards: true},
	"wget2":                {noWildcards: true, noAllow: true},
	"httrack":              {noWildcards: true, noAllow: true},
	"libwww-perl":          {noWildcards: true, noAllow: true},
	"linkchecker":          {noWildcards: true},
	"python-urllib":        {noWildcards: true},
	"googlebot":            {noDelay: true},
	"googlebot-image":      {noDelay: true},
	"googlebot-news":       {noDelay: true},
	"googlebot-video":      {noDelay: true},
	"mediapartners-google": {noDelay: true},
	"adsbot-google":        {noDelay: true},
	"yandex":               {noDelay: true},
	"yandexbot":            {noDelay: true},
	"amazonbot":            {noDelay: true},
}
