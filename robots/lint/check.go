package lint

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Check explains one kind of finding.
type Check struct {
	Code     string   `json:"code"` // lower case with hyphens; it does not change between versions
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`   // what was found, without a full stop
	Why      string   `json:"why"`     // the consequence, and the crawlers that it affects; one sentence or two
	Readers  string   `json:"readers"` // which crawlers read it in which way, and where that is documented
	Before   string   `json:"before"`  // a file with the finding
	After    string   `json:"after"`   // the same file, corrected; "" if no change of the text corrects it
}

// checksFile has the text of each check. The statements about Google's parser
// are from its source (google/robotstxt, robots.cc). The statements about
// parsers that do not support Allow, wildcards or blank lines were tested with
// wget, wget2, HTTrack, LWP, linkchecker and Python's urllib.robotparser.
//
//go:embed checks.json
var checksFile []byte

// example returns the Before of a check whose example is long or not UTF-8, "" for
// all others.
func example(code string) string {
	switch code {
	case "utf-16":
		return "\xff\xfeU\x00s\x00e\x00r\x00"
	case "not-utf-8":
		return "User-agent: *\nDisallow: /caf\xe9\n"
	case "too-large":
		return "User-agent: *\n" + strings.Repeat("Disallow: /abcdefgh\n", 26000)
	case "analysis-limited":
		return strings.Repeat("#\n", maxLines+1) + "User-agent: *\nDisallow: /a\n"
	case "line-too-long":
		return "User-agent: *\nDisallow: /" + strings.Repeat("a", maxLine) + "\n"
	}
	return ""
}

// checks holds all checks, sorted by code, without long examples.
var checks = sync.OnceValue(func() []Check {
	var all []Check
	if err := json.Unmarshal(checksFile, &all); err != nil {
		panic("lint: checks.json: " + err.Error())
	}
	slices.SortFunc(all, func(a, b Check) int { return strings.Compare(a.Code, b.Code) })
	return all
})

// Checks returns all checks, sorted by code.
func Checks() []Check {
	all := slices.Clone(checks())
	for i := range all {
		all[i].Before = cmp.Or(all[i].Before, example(all[i].Code))
	}
	return all
}

// CheckFor returns the check with a code.
func CheckFor(code string) (Check, bool) {
	c := checkFor(code)
	if c == nil {
		return Check{}, false
	}
	full := *c
	full.Before = cmp.Or(c.Before, example(code))
	return full, true
}

// checkFor returns the check with a code, or nil, without a long example.
func checkFor(code string) *Check {
	i, ok := slices.BinarySearchFunc(checks(), code, func(c Check, code string) int { return strings.Compare(c.Code, code) })
	if !ok {
		return nil
	}
	return &checks()[i]
}

// Page returns the page of the check in Markdown, which begins with a heading of
// the second level.
func (r Check) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s: %s.\n\n%s\n\n%s\n", r.Code, capital(r.Severity.String()), inCode(r.Title), inCode(sentence(r.Why)),
		inCode(sentence(r.Readers)))
	example := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n\n```\n%s```\n", name, visible(text))
		}
	}
	example("Before", r.Before)
	example("After", r.After)
	return b.String()
}

// inCode puts words with a * into backquotes, so that Markdown does not read
// the * as emphasis.
func inCode(s string) string { return starred().ReplaceAllString(s, "$1`$2`$3") }

var starred = lazy(`([("]*)([^\s("]*\*[^\s)"]*?)([.,;:)"]*(?:\s|$))`)

// lazy returns a regular expression that is compiled when it is first used.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return capital(s)
	}
	return capital(s) + "."
}

// An example that has more than maxExample octets is cut after at most
// maxExampleLines lines.
const (
	maxExample      = 400
	maxExampleLines = 8
)

// visible writes invisible octets of an example as names such as <CR>. It cuts
// a long example.
func visible(s string) string {
	s = strings.NewReplacer("\xef\xbb\xbf", "<BOM>", "\r\n", "<CR><LF>\n", "\u200b", "<U+200B>", "\u00a0", "<U+00A0>", "\x00",
		"<NUL>").Replace(s)
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r", "<CR>"), "<octet that is not UTF-8>")
	if len(s) > maxExample {
		lines := strings.SplitAfterN(s[:maxExample], "\n", maxExampleLines+1)
		s = strings.Join(lines[:len(lines)-1], "") + "…\n" // the last one may be cut
	}
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
