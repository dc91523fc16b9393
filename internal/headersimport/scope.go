package headersimport

import (
	"fmt"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

// scope is the set of requests that a section or location applies to: the
// requests that any of the patterns matches.
type scope struct {
	patterns []headers.Setting // only Kind and Pattern are set
	unknown  string            // why patterns can't express the scope; "" if they can
	// bounds are known scopes that contain this scope if it is unknown.
	bounds []scope
}

// everything returns the scope outside of all sections: all requests.
func everything() scope { return scope{patterns: []headers.Setting{{Pattern: "*"}}} }

func (s scope) isEverything() bool {
	return s.unknown == "" && slices.ContainsFunc(s.patterns, func(r headers.Setting) bool { return r.Pattern == "*" && r.Kind == "" })
}

func unknownScope(format string, args ...any) scope {
	return scope{unknown: fmt.Sprintf(format, args...)}
}

// unselectable returns the scope of a section that patterns can't select.
func unselectable(section string) scope {
	return unknownScope("%s: rules can select only names, paths, media types and statuses", section)
}

// boundBy returns the unknown scope s with more bounds.
func (s scope) boundBy(bounds ...scope) scope {
	s.bounds = append(s.bounds[:len(s.bounds):len(s.bounds)], bounds...)
	return s
}

// overlaps reports whether a request may be in both scopes.
func (s scope) overlaps(o scope) bool {
	if s.unknown != "" || o.unknown != "" {
		return !slices.ContainsFunc(s.bounds, func(b scope) bool { return !b.overlaps(o) }) &&
			!slices.ContainsFunc(o.bounds, func(b scope) bool { return !s.overlaps(b) })
	}
	for _, a := range s.patterns {
		for _, b := range o.patterns {
			if !disjoint(a, b) {
				return true
			}
		}
	}
	return false
}

// covers reports whether it is certain that s contains o.
func (s scope) covers(o scope) bool {
	if s.isEverything() {
		return true
	}
	if s.unknown != "" || o.unknown != "" {
		return false
	}
	for _, b := range o.patterns {
		if !slices.ContainsFunc(s.patterns, func(a headers.Setting) bool {
			return a == b || a.Kind == headers.KindPath && b.Kind == headers.KindPath && !strings.HasSuffix(a.Pattern, "$") && strings.HasPrefix(b.Pattern, a.Pattern)
		}) {
			return false
		}
	}
	return true
}

// shape describes the paths, without query, that a pattern matches.
type shape struct {
	prefix string
	suffix string // of the path; a complete file name starts with its slash
	name   string // the prefix of the file name
	exact  bool   // the path is prefix
}

// shapes returns one or more shapes that together have all paths that a pattern
// matches.
func shapes(r headers.Setting) []shape {
	switch r.Kind {
	case headers.KindPath:
		path, exact := strings.CutSuffix(r.Pattern, "$")
		if !exact {
			path, exact = strings.CutSuffix(path, "?")
		}
		path, _ = url.PathUnescape(path) // see quotePath
		return []shape{{prefix: path, exact: exact}}
	case headers.KindRegexp:
		globs := nameglob.FromRegexp(r.Pattern)
		if globs == nil {
			begin, end := literalEnds(r.Pattern)
			return []shape{{name: begin, suffix: end}}
		}
		var all []shape
		for _, g := range globs {
			all = append(all, globShape(g))
		}
		return all
	}
	return []shape{globShape(nameglob.New(r.Pattern))}
}

func globShape(g *nameglob.Glob) shape {
	if g.Literal {
		return shape{suffix: "/" + g.Prefix}
	}
	return shape{name: g.Prefix, suffix: g.Suffix}
}

// disjoint reports whether it is certain that no request matches both patterns.
func disjoint(a, b headers.Setting) bool {
	for _, x := range shapes(a) {
		for _, y := range shapes(b) {
			if !x.disjoint(y) {
				return false
			}
		}
	}
	return true
}

func (s shape) disjoint(o shape) bool {
	switch {
	case s.exact:
		return !o.matches(s.prefix)
	case o.exact:
		return !s.matches(o.prefix)
	}
	return !prefixesAgree(s.prefix, o.prefix) || !prefixesAgree(s.name, o.name) || !suffixesAgree(s.suffix, o.suffix)
}

// matches reports whether a path may have the shape.
func (s shape) matches(path string) bool {
	if s.exact {
		return path == s.prefix
	}
	return strings.HasPrefix(path, s.prefix) && strings.HasSuffix(path, s.suffix) &&
		strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], s.name)
}

// prefixesAgree reports whether a string can start with both a and b.
func prefixesAgree(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }

// ends reports whether a string can end with both a and b.
func suffixesAgree(a, b string) bool { return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) }

// pathPrefix returns the scope of the paths that start with s.
func pathPrefix(s string) scope {
	if s == "/" {
		return everything()
	}
	return scope{patterns: []headers.Setting{{Kind: headers.KindPath, Pattern: quotePath(s)}}}
}

// pathExactly returns the scope of the path s, with any query or none.
func pathExactly(s string) scope {
	s = quotePath(s)
	return scope{patterns: []headers.Setting{{Kind: headers.KindPath, Pattern: s + "$"}, {Kind: headers.KindPath, Pattern: s + "?"}}}
}

// pathFolder returns the scope of the path s and the paths below it.
func pathFolder(s string) scope {
	if strings.HasSuffix(s, "/") {
		return pathPrefix(s)
	}
	return scope{patterns: append(pathExactly(s).patterns, pathPrefix(s+"/").patterns...)}
}

// quotePath converts a path to a pattern in robots.txt syntax.
func quotePath(s string) string {
	return strings.NewReplacer("%", "%25", "*", "%2A", "$", "%24", "?", "%3F", "#", "%23", " ", "%20").Replace(s)
}

// pathRegexp returns the scope of the paths, without query, that a regular
// expression matches. The scope has patterns for file names if the expression
// is equivalent to a few literals without a slash at the end of the path, and
// patterns for paths if it is equivalent to a few literals at the start.
// Otherwise it is unknown.
func pathRegexp(s string, fold bool) scope {
	if fold {
		s = "(?i)" + s
	}
	if _, err := regexp.Compile(s); err != nil {
		return unknownScope("%v", err)
	}
	var found scope
	globs := nameglob.FromRegexp(s)
	for _, g := range globs {
		switch {
		case g.Literal && strings.HasPrefix(g.Prefix, "/"):
			found.patterns = append(found.patterns, pathExactly(g.Prefix).patterns...)
		case !g.Literal && g.Suffix == "" && strings.HasPrefix(g.Prefix, "/"):
			found.patterns = append(found.patterns, pathPrefix(g.Prefix).patterns...)
		case g.Literal || g.Prefix != "" || g.Suffix == "" || strings.Contains(g.Suffix, "/"):
			return unknownScope("rules can't compare the regular expression %q with whole paths", clip(s)).boundBy(regexpBounds(s)...)
		}
	}
	switch {
	case globs == nil:
		return unknownScope("rules can't compare the regular expression %q with whole paths", clip(s)).boundBy(regexpBounds(s)...)
	case found.patterns == nil:
		return scope{patterns: []headers.Setting{{Kind: headers.KindRegexp, Pattern: s}}}
	}
	return found
}

// regexpBounds returns scopes that contain all paths that a regular expression
// matches, from its literal prefix and suffix.
func regexpBounds(s string) (bounds []scope) {
	begin, end := literalEnds(s)
	if strings.HasPrefix(begin, "/") {
		bounds = append(bounds, pathPrefix(begin))
	}
	if end = end[strings.LastIndexByte(end, '/')+1:]; end != "" && !strings.ContainsAny(end, "*?") {
		bounds = append(bounds, scope{patterns: []headers.Setting{{Pattern: "*" + end}}})
	}
	return bounds
}

// literalEnds returns a literal prefix and suffix of all strings that a regular
// expression matches. Each is "" if the expression is not anchored on that side
// or has no literal there.
func literalEnds(s string) (begin, end string) {
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return "", ""
	}
	literal := func(re *syntax.Regexp) string {
		if re.Op != syntax.OpLiteral || re.Flags&syntax.FoldCase != 0 {
			return ""
		}
		return string(re.Rune)
	}
	n := len(re.Sub)
	if re.Sub[0].Op == syntax.OpBeginText {
		begin = literal(re.Sub[1])
	}
	if re.Sub[n-1].Op == syntax.OpEndText {
		end = literal(re.Sub[n-2])
	}
	return begin, end
}

// indexNames are the names of the files that a server may send for the URL of a
// folder.
type indexNames []string

// commonIndexes are names that servers use by default, or that common
// applications require.
var commonIndexes = indexNames{"index.html", "index.htm", "index.php", "index.cgi", "index.pl", "index.shtml", "index.xhtml", "index.asp", "index.jsp", "default.html", "default.htm"}

// in returns one of the names that the pattern matches in some folder, if it
// does not match the URL of the folder too; "" if there is none.
func (names indexNames) in(r headers.Setting) string {
	if r.Pattern == "*" && r.Kind == "" {
		return ""
	}
	for _, name := range names {
		for _, s := range shapes(r) {
			switch {
			case s.exact && strings.HasSuffix(s.prefix, "/"+name),
				!s.exact && s.prefix != "" && strings.HasPrefix(name, s.prefix[strings.LastIndexByte(s.prefix, '/')+1:]) && !strings.HasSuffix(s.prefix, "/"),
				s.prefix == "" && s.matches("/"+name):
				return name
			}
		}
	}
	return ""
}
