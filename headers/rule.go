package headers

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
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

// ofRequest reports whether the pattern is compared with the request.
func (k Kind) ofRequest() bool { return k != KindType && k != KindStatus }

// matcher is a compiled pattern. It returns whether it matches a request, or a
// response with a media type and a status.
type matcher func(v *views, media string, status int) bool

// maxPattern is the maximal length of a pattern, in octets.
const maxPattern = 2048

// Validate returns an error if the rule is not valid. The error is written for
// the operator.
func (r Setting) Validate() error {
	if _, err := r.compile(); err != nil {
		return err
	}
	if r.Only && r.Crawler == "" {
		return errors.New("\"only\" needs a crawler before it, as in: googlebot: only noindex")
	}
	return Tag{r.Crawler, r.Directives}.Validate()
}

// compile compiles the pattern.
func (r Setting) compile() (matcher, error) {
	switch {
	case r.Pattern == "":
		return nil, errors.New("empty pattern; write * for every response")
	case len(r.Pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d octets; at most %d are allowed", len(r.Pattern), maxPattern)
	}
	switch r.Kind {
	case KindName, "":
		return nameMatcher(r.Pattern)
	case KindPath:
		p, ok := pattern.Compile(r.Pattern, pattern.RFC9309, false)
		if !ok {
			return nil, fmt.Errorf("path pattern %.80q must start with / or *, otherwise it would never match", r.Pattern)
		}
		return func(v *views, _ string, _ int) bool { return v.match(&p) }, nil
	case KindRegexp:
		re, err := regexp.Compile(r.Pattern)
		if err != nil {
			return nil, fmt.Errorf("regular expression %.80q: %w; RE2 has no look-around: write not before the pattern to negate the rule",
				r.Pattern, err)
		}
		return func(v *views, _ string, _ int) bool { return re.MatchString(v.name) }, nil
	case KindType:
		return typeMatcher(r.Pattern)
	case KindStatus:
		return statusMatcher(r.Pattern)
	}
	return nil, fmt.Errorf("unknown kind of pattern %.80q; known are name, path, regexp, type and status", string(r.Kind))
}

func nameMatcher(s string) (matcher, error) {
	switch {
	case strings.Contains(s, "/"):
		return nil, fmt.Errorf("%.80q is neither a file name, which has no /, nor a path, which starts with / or *", s)
	case strings.ContainsAny(s, `\[`):
		return nil, fmt.Errorf("file name pattern %.80q: only * and ? are special; write ~ before a regular expression", s)
	case strings.HasSuffix(s, "$") && len(s) > 1:
		return nil, fmt.Errorf("file name pattern %.80q: it must match the whole file name, so leave the $ out (or write ? for "+
			"a $ that is part of the name)", s)
	}
	suffix := s[strings.LastIndexAny(s, "*?")+1:]
	return func(v *views, _ string, _ int) bool {
		if !strings.HasSuffix(v.name, suffix) {
			return false
		}
		matches, _ := path.Match(s, v.name) // the pattern has no [ and no \
		return matches
	}, nil
}

// topLevelTypes are the registered top-level media types (RFC 6838, section
// 4.2, and later RFCs).
var topLevelTypes = []string{"application", "audio", "font", "haptics", "image", "message", "model", "multipart", "text", "video"}

func typeMatcher(s string) (matcher, error) {
	media := strings.ToLower(s)
	top, sub, _ := strings.Cut(media, "/")
	switch {
	case !isToken(top) || !isToken(sub) || strings.Contains(top, "*") || strings.Contains(sub, "*") && sub != "*":
		return nil, fmt.Errorf("%.80q is not a media type; write it as type/subtype or type/*, without parameters, such as application/pdf", s)
	case !slices.Contains(topLevelTypes, top) && !strings.HasPrefix(top, "x-"):
		return nil, fmt.Errorf("media type %.80q: there is no %q; known are %s", s, top, strings.Join(topLevelTypes, ", "))
	}
	if sub == "*" {
		prefix := top + "/"
		return func(_ *views, of string, _ int) bool { return strings.HasPrefix(of, prefix) }, nil
	}
	return func(_ *views, of string, _ int) bool { return of == media }, nil
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool { return s != "" && strings.Trim(s, alphanumeric+"!#$%&'*+-.^_`|~") == "" }

func statusMatcher(s string) (matcher, error) {
	digits, class := strings.CutSuffix(strings.ToLower(s), "xx")
	status, err := strconv.Atoi(digits)
	if class {
		status *= 100
	}
	switch {
	case err != nil || len(s) != 3 || status < 100 || status > 599:
		return nil, fmt.Errorf("%.80q is not a status; write a status such as 404, or a class such as 4xx", s)
	case status < 200:
		return nil, fmt.Errorf("status %q: rules add nothing to interim responses (1xx)", s)
	case status == http.StatusNotModified:
		return nil, errors.New("status 304: it gets what a 200 gets; write status 200")
	}
	return func(_ *views, _ string, of int) bool { return of == status || class && of/100*100 == status }, nil
}
