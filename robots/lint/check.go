package lint

import (
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
	Before   string   `json:"before"`  // a file with the finding; "" if it would be long, or no text
	After    string   `json:"after"`   // the same file, corrected; "" if no change of the text corrects it
}

// checksFile has the text of each check. The statements about Google's parser
// are from its source (google/robotstxt, robots.cc). The statements about
// parsers that do not support Allow, wildcards or blank lines were tested with
// wget, wget2, HTTrack, LWP, linkchecker and Python's urllib.robotparser.
//
//go:embed checks.json
var checksFile []byte

// checks holds all checks, sorted by code.
var checks = sync.OnceValue(func() []Check {
	var all []Check
	if err := json.Unmarshal(checksFile, &all); err != nil {
		panic("lint: checks.json: " + err.Error())
	}
	slices.SortFunc(all, func(a, b Check) int { return strings.Compare(a.Code, b.Code) })
	return all
})

// Checks returns all checks, sorted by code.
func Checks() []Check { return slices.Clone(checks()) }

// CheckFor returns the check with a code.
func CheckFor(code string) (Check, bool) {
	i, ok := slices.BinarySearchFunc(checks(), code, func(c Check, code string) int { return strings.Compare(c.Code, code) })
	if !ok {
		return Check{}, false
	}
	return checks()[i], true
}

// Page returns the page of the check in Markdown, which begins with a heading of
// the second level.
func (r Check) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s: %s.\n\n%s\n\n%s\n", r.Code, capital(r.Severity.String()), r.Title, sentence(r.Why), sentence(r.Readers))
	example := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s:\n\n```\n%s```\n", name, visible(text))
		}
	}
	example("Before", r.Before)
	example("After", r.After)
	return b.String()
}

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

// visible writes invisible octets of an example as names.
func visible(s string) string {
	s = strings.NewReplacer("\u200b", "<U+200B>", "\u00a0", "<U+00A0>", "\x00", "<NUL>").Replace(s)
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
