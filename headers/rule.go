package headers

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// Setting adds directives to the responses that its pattern matches. The zero
// value is not valid: a rule needs a Pattern and Directives.
type Setting struct {
	// What Pattern is compared with: `name` (the default), `path`, `regexp`,
	// `type` or `status`.
	Kind Kind `json:"kind,omitempty"`
	// The pattern.
	//
	// For `name`, the name of a file in any folder, as in Apache's `<Files>`:
	// `*` matches any characters, `?` matches one character, and case matters.
	// `*` alone matches every request, and one for a folder.
	//
	// For `path`, the path and query, in the syntax of robots.txt: `/drafts/`
	// matches all paths that start with it, `*` matches any octets, `$` at the
	// end matches the end of the path and query, and a percent-encoded octet is
	// equal to the octet itself.
	//
	// For `regexp`, a regular expression (RE2) that matches a part of the file
	// name, as in Apache's `<FilesMatch>`.
	//
	// For `type`, the media type of the response, such as `application/pdf`, or
	// `image/*`.
	//
	// For `status`, the status of the response, such as `404`, or `4xx`.
	Pattern string `json:"pattern"`
	// Whether the rule applies to the responses that the pattern does not
	// match. A rule for a media type never applies to a response without one.
	Not bool `json:"not,omitempty"`
	// The crawler that the directives apply to, such as `googlebot`. Default:
	// all crawlers.
	Crawler string `json:"crawler,omitempty"`
	// Whether the header is sent only to that crawler. By default, it is sent
	// to all clients, and contains the crawler's name.
	Only bool `json:"only,omitempty"`
	// The directives, such as `noindex, nofollow`.
	Directives Directives `json:"directives"`
}

// Kind is the part of a request or response that a rule's pattern is compared
// with.
type Kind string

// The kinds of patterns. The empty Kind means KindName.
const (
	KindName   Kind = "name"   // the file name; the pattern may have * and ?
	KindPath   Kind = "path"   // the path and query; the pattern has robots.txt syntax
	KindRegexp Kind = "regexp" // the file name; the pattern is a regular expression
	KindType   Kind = "type"   // the media type of the response
	KindStatus Kind = "status" // the status of the response
)

// maxPattern is the maximal length of a pattern, in octets.
const maxPattern = 2048

// Validate returns an error if the rule is not valid. The error is written for
// the operator.
func (r Setting) Validate() error {
	_, err := r.compile()
	return err
}

// compile returns the compiled pattern, and the error of Validate.
func (r Setting) compile() (pattern, error) {
	p, err := r.pattern()
	switch {
	case err != nil:
		return nil, err
	case r.Only && r.Crawler == "":
		return nil, errors.New("\"only\" needs a crawler before it, as in: googlebot: only noindex")
	}
	return p, Tag{r.Crawler, r.Directives}.Validate()
}

// validateCrawler returns an error if name can't be the name of a crawler in a
// header. "" is valid, and means all crawlers.
func validateCrawler(name string) error {
	switch {
	case name == "*" || strings.EqualFold(name, "robots"):
		return fmt.Errorf("%q can't be the name of a crawler in a header; leave it out to address all crawlers", name)
	case name != "" && lookup(name) != nil:
		return fmt.Errorf("%q is a directive, not a crawler", name)
	case name != "" && !isCrawler(name):
		return fmt.Errorf("crawler %q: a crawler's name may have only letters, digits, blanks, hyphens, underscores and dots", clip(name))
	}
	return nil
}

// pattern returns the compiled pattern.
func (r Setting) pattern() (pattern, error) {
	if r.Pattern == "" {
		return nil, errors.New("empty pattern; write * for every response")
	}
	if len(r.Pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d octets; at most %d are allowed", len(r.Pattern), maxPattern)
	}
	switch r.Kind {
	case KindName, "":
		return namePattern(r.Pattern)
	case KindPath:
		return pathPattern(r.Pattern)
	case KindRegexp:
		return regexpPattern(r.Pattern)
	case KindType:
		return typePattern(r.Pattern)
	case KindStatus:
		return statusPattern(r.Pattern)
	}
	kinds := []string{string(KindName), string(KindPath), string(KindRegexp), string(KindType), string(KindStatus)}
	return nil, fmt.Errorf("unknown kind of pattern %q; known are %s", clip(string(r.Kind)), strings.Join(kinds, ", "))
}

// pattern is one of *nameGlob, *pathGlob, *regexp.Regexp, mediaType and statusRange.
type pattern any

func namePattern(s string) (pattern, error) {
	switch {
	case strings.Contains(s, "/"):
		return nil, fmt.Errorf("%q is neither a file name, which has no /, nor a path, which starts with / or *", clip(s))
	case strings.Contains(s, `\`):
		return nil, fmt.Errorf("file name pattern %q: only * and ? are special; write ~ before a regular expression", clip(s))
	case strings.Contains(s, "["):
		return nil, fmt.Errorf("file name pattern %q: only * and ? are special; %s (or write ? for a [ that is part of the name)", clip(s),
			classRegexp(s))
	case strings.HasSuffix(s, "$") && len(s) > 1:
		return nil, fmt.Errorf("file name pattern %q: it must match the whole file name, so leave the $ out (or write ? for "+
			"a $ that is part of the name)", clip(s))
	}
	return newNameGlob(s), nil
}

// classRegexp says how to write a file name pattern with classes, such as
// `*.[Pp][Dd][Ff]`, as a regular expression.
func classRegexp(s string) string {
	re := strings.NewReplacer(".", `\.`, "*", ".*", "?", ".", "[!", "[^", "+", `\+`, "(", `\(`, ")", `\)`).Replace("^" + s + "$")
	re = strings.TrimSuffix(strings.TrimPrefix(re, "^.*"), ".*$")
	lower := casePair.ReplaceAllStringFunc(re, func(pair string) string {
		if strings.EqualFold(pair[1:2], pair[2:3]) {
			return strings.ToLower(pair[1:2])
		}
		return pair
	})
	if lower != re && !strings.Contains(lower, "[") {
		re = "(?i)" + lower
	}
	if _, err := regexp.Compile(re); err != nil {
		return "write ~ before a regular expression"
	}
	return "write ~ " + quoteWord(re)
}

var casePair = regexp.MustCompile(`\[[A-Za-z]{2}\]`)

func pathPattern(s string) (pattern, error) {
	if s[0] != '/' && s[0] != '*' {
		return nil, fmt.Errorf("path pattern %q must start with / or *, otherwise it would never match", clip(s))
	}
	return newPathGlob(s), nil
}

func regexpPattern(s string) (pattern, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		if strings.Contains(s, "(?=") || strings.Contains(s, "(?!") || strings.Contains(s, "(?<") {
			return nil, fmt.Errorf("regular expression %q: %w; RE2 has no look-around; write not before the pattern to negate the rule", clip(s),
				err)
		}
		return nil, fmt.Errorf("regular expression %q: %w", clip(s), err)
	}
	return re, nil
}

// mediaType is a media type in lower case. A sub of "*" means all subtypes.
type mediaType struct{ top, sub string }

// topLevelTypes are the registered top-level media types (RFC 6838, section
// 4.2, and later RFCs).
var topLevelTypes = []string{"application", "audio", "font", "haptics", "image", "message", "model", "multipart", "text", "video"}

func typePattern(s string) (pattern, error) {
	lower := strings.ToLower(s)
	top, sub, slash := strings.Cut(lower, "/")
	switch {
	case strings.Contains(lower, ";"):
		return nil, fmt.Errorf("media type %q: leave the parameters out, they are not compared", clip(s))
	case !slash && slices.Contains(topLevelTypes, top):
		return nil, fmt.Errorf("media type %q has no subtype; write %s/* for all of them", clip(s), top)
	case !slash || !isToken(top) || !isToken(sub):
		return nil, fmt.Errorf("%q is not a media type; write it as type/subtype or type/*, such as application/pdf", clip(s))
	case top == "*":
		return nil, fmt.Errorf("media type %q matches everything; write the pattern * for that", clip(s))
	case strings.Contains(top, "*") || strings.Contains(sub, "*") && sub != "*":
		return nil, fmt.Errorf("media type %q: a * must be the whole subtype, as in %s/*", clip(s), "image")
	case !slices.Contains(topLevelTypes, top) && !strings.HasPrefix(top, "x-"):
		if near := editdistance.Nearest(top, slices.Values(topLevelTypes)); near != "" {
			return nil, fmt.Errorf("media type %q: there is no %q; did you mean %s/%s?", clip(s), top, near, sub)
		}
		return nil, fmt.Errorf("media type %q: there is no %q; known are %s", clip(s), top, strings.Join(topLevelTypes, ", "))
	}
	return mediaType{top, sub}, nil
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !isLetterOrDigit(s[i]) && strings.IndexByte("!#$%&'*+-.^_`|~", s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// statusRange is a status or, if class is set, the hundred statuses from status
// on.
type statusRange struct {
	status int
	class  bool
}

func statusPattern(s string) (pattern, error) {
	wrong := fmt.Errorf("%q is not a status; write a status such as 404, or a class such as 4xx", clip(s))
	if len(s) != 3 || s[0] < '1' || s[0] > '5' {
		return nil, wrong
	}
	if s[0] == '1' {
		return nil, fmt.Errorf("status %q: rules add nothing to interim responses (1xx)", s)
	}
	if strings.EqualFold(s[1:], "xx") {
		return statusRange{int(s[0]-'0') * 100, true}, nil
	}
	status, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return nil, wrong
	case status == http.StatusNotModified:
		return nil, errors.New("status 304: it gets what a 200 gets; write status 200")
	}
	return statusRange{status, false}, nil
}
