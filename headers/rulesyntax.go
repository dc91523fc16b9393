package headers

import (
	"errors"
	"fmt"
	"slices"
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
// The word not, or a ! before the pattern, negates the pattern. Commas or
// blanks separate directives. By default, the header is sent to all clients and
// contains the name of the CRAWLER. With the word only, it is sent only to that
// crawler.
//
// Errors are written for the operator: they say what was found, what is
// allowed, and the nearest known word.
func ParseSetting(words []string) (Setting, error) {
	var r Setting
	words = slices.Clone(words)
	if len(words) > 0 && words[0] == "not" {
		r.Not, words = true, words[1:]
	}
	if len(words) > 0 && len(words[0]) > 0 && words[0][0] == '!' {
		if r.Not {
			return Setting{}, errors.New("negated twice; write either a ! or the word not")
		}
		r.Not = true
		if words[0] = words[0][1:]; words[0] == "" {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return Setting{}, errors.New("no pattern; write one such as *.pdf, and directives such as noindex")
	}
	words = r.parsePattern(words)
	if _, err := r.pattern(); err != nil {
		return Setting{}, err
	}
	if err := r.parseDirectives(strings.Join(words, " ")); err != nil {
		return Setting{}, err
	}
	return r, r.Validate()
}

// kindWords maps the words before a pattern to its kind.
var kindWords = map[string]Kind{"~": KindRegexp, "type": KindType, "status": KindStatus}

// parsePattern parses the pattern and returns the remaining words.
func (r *Setting) parsePattern(words []string) []string {
	if kind, found := kindWords[words[0]]; found {
		r.Kind = kind
		if len(words) == 1 {
			return nil
		}
		words = words[1:]
	} else if strings.Contains(words[0], "/") {
		r.Kind = KindPath
	}
	r.Pattern = words[0]
	return words[1:]
}

// parseDirectives parses "[CRAWLER: [only]] DIRECTIVE...".
func (r *Setting) parseDirectives(s string) error {
	s = strings.Join(strings.Fields(s), " ")
	if name, rest, found := strings.Cut(s, ":"); found && r.isCrawler(trim(name)) {
		r.Crawler, s = trim(name), trim(rest)
	}
	if rest, found := strings.CutPrefix(s+" ", "only "); found {
		r.Only, s = true, trim(rest)
	}
	if s == "" {
		return fmt.Errorf("no directive after the pattern %q; write at least one, such as noindex", clip(r.Pattern))
	}
	var err error
	r.Directives, err = parseList(&list{rest: s, blanks: true})
	return err
}

// isCrawler reports whether the text before the first colon is the name of a
// crawler, and not directives.
func (r *Setting) isCrawler(name string) bool {
	if strings.Contains(name, ",") {
		return false
	}
	for word := range strings.SplitSeq(name, " ") {
		if lookup(word) != nil || word == "only" {
			return false
		}
	}
	return nearValued(name) == ""
}

// String returns the rule in the form that ParseSetting accepts. Words have quotes
// if they need them in a Caddyfile.
func (r Setting) String() string {
	var words []string
	if r.Not {
		words = append(words, "not")
	}
	switch r.Kind {
	case KindRegexp:
		words = append(words, "~", quoteWord(r.Pattern))
	case KindType, KindStatus:
		words = append(words, string(r.Kind), quoteWord(r.Pattern))
	default:
		words = append(words, quoteWord(r.Pattern))
	}
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
	if !strings.ContainsAny(s, " \t\"`{}#") {
		return s
	}
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}
