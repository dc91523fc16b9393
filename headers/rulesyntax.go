package headers

import (
	"errors"
	"fmt"
	"strings"
)

// ParseSetting parses the words of a rule as an operator writes them:
//
//	[not] PATTERN [CRAWLER: [only]] DIRECTIVE...
//
// PATTERN is one of
//
//	*.pdf                 the file name, in any folder, with * and ?
//	/drafts/*             the path, in robots.txt syntax; it contains a slash
//	~ \.docx?$            the file name, as a regular expression (RE2)
//	type application/pdf  the media type of the response, or type image/*
//	status 404            the status of the response, or status 4xx
//
// The word not negates the pattern. Commas or blanks separate directives. By
// default, the header is sent to all clients and contains the name of the CRAWLER.
// With the word only, it is sent only to that crawler.
//
// Errors are written for the operator: they say what was found, what is
// allowed, and the nearest known word.
func ParseSetting(words []string) (Setting, error) {
	var r Setting
	if len(words) > 0 && words[0] == "not" {
		r.Not, words = true, words[1:]
	}
	if len(words) == 0 {
		return r, errors.New("no pattern; write one such as *.pdf, and directives such as noindex")
	}
	if kind, found := kindWords[words[0]]; found {
		r.Kind, words = kind, words[1:]
	} else if strings.Contains(words[0], "/") {
		r.Kind = KindPath
	}
	if len(words) > 0 {
		r.Pattern, words = words[0], words[1:]
	}
	if _, err := r.compile(); err != nil {
		return r, err
	}
	if err := r.parseDirectives(strings.Join(words, " ")); err != nil {
		return r, err
	}
	return r, r.Validate()
}

// kindWords maps the words before a pattern to its kind.
var kindWords = map[string]Kind{"~": KindRegexp, "type": KindType, "status": KindStatus}

// parseDirectives parses "[CRAWLER: [only]] DIRECTIVE...".
func (r *Setting) parseDirectives(s string) (err error) {
	name, rest, found := strings.Cut(s, ":")
	name = trim(name)
	if found && (name == "*" || isCrawler(name) && nearValued(name) == "") {
		r.Crawler, s = name, rest
	}
	words := strings.Fields(s)
	if len(words) > 0 && words[0] == "only" {
		r.Only, words = true, words[1:]
	}
	if len(words) == 0 {
		return fmt.Errorf("no directive after the pattern %.80q; write at least one, such as noindex", r.Pattern)
	}
	r.Directives, err = ParseDirectives(withCommas(words))
	return err
}

// withCommas joins words with blanks, and with commas between directives.
func withCommas(words []string) string {
	text := words[0]
	for _, w := range words[1:] {
		before := text[strings.LastIndexAny(text, ", ")+1:]
		name, _, colon := strings.Cut(strings.TrimSuffix(w, ","), ":")
		begins := lookup(name) != 0 || colon && (name[:1] > "9") // not a time of day
		if !strings.HasSuffix(text, ",") && !strings.HasSuffix(text, ":") && (begins || lookup(before) != 0) {
			text += ","
		}
		text += " " + w
	}
	return text
}

// String returns the rule in the form that ParseSetting accepts. Words have quotes
// if they need them in a Caddyfile.
func (r Setting) String() string {
	var words []string
	if r.Not {
		words = append(words, "not")
	}
	for word, kind := range kindWords {
		if kind == r.Kind {
			words = append(words, word)
		}
	}
	words = append(words, quoteWord(r.Pattern))
	if r.Crawler != "" {
		words = append(words, r.Crawler+":")
	}
	if r.Only {
		words = append(words, "only")
	}
	return strings.Join(append(words, r.Directives.String()), " ")
}

// quoteWord quotes a word for a Caddyfile if necessary.
func quoteWord(s string) string {
	if !strings.ContainsAny(s, " \t\"{}#") {
		return s
	}
	return "`" + s + "`"
}
