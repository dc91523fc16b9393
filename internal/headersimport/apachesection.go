package headersimport

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// apacheStage is the order in which Apache merges the kinds of sections
// (httpd.apache.org/docs/2.4/sections.html#merging).
type apacheStage int

const (
	outsideSections apacheStage = iota
	inDirectory
	inDirectoryMatch
	inFiles
	inNestedFiles // a Files section in a Directory section
	inLocation
	inIf
)

// place is the place of a directive: the sections around it.
type place struct {
	stage apacheStage
	depth int // number of folders in the path of the Directory section
	scope scope
	text  string // the innermost section, for messages
}

// enterSection returns the place of the directives in a section at place p.
func (a *apacheServer) enterSection(p place, d *apacheDirective) place {
	text := fmt.Sprintf("<%s> (line %d)", clip(strings.Join(append([]string{d.title}, d.args...), " ")), d.line)
	args := d.args
	matches := strings.HasSuffix(d.name, "match")
	if len(args) == 2 && args[0] == "~" && !matches {
		matches, args = true, args[1:]
	}
	in := place{p.stage, p.depth, scope{}, text}
	s := unselectable(text)
	var scopeOf func(arg string, matches bool, text string) scope
	switch d.name {
	case "ifmodule":
		if len(args) == 1 && a.hasModule(args[0]) {
			return p
		}
		s = unknownScope("%s: it is not known whether the module is loaded", text)
	case "files", "filesmatch":
		in.stage, scopeOf = inFiles, filesScope
		if p.stage == inDirectory || p.stage == inDirectoryMatch {
			in.stage = inNestedFiles
		}
	case "location", "locationmatch":
		in.stage, scopeOf = inLocation, locationScope
	case "directory", "directorymatch":
		in.stage, scopeOf = inDirectory, a.directoryScope
		if matches {
			in.stage = inDirectoryMatch
		} else if len(args) == 1 && isFolder(args[0]) {
			in.depth = strings.Count(strings.TrimSuffix(path.Clean(args[0]), "/"), "/")
		}
	case "if", "elseif", "else":
		in.stage = inIf
	}
	switch {
	case scopeOf != nil && len(args) == 1:
		s = scopeOf(args[0], matches, text)
	case scopeOf != nil:
		s = unknownScope("%s has %d arguments, and needs one", text, len(args))
	}
	switch {
	case s.unknown == "" && p.scope.covers(s):
		in.scope = s
	case p.scope.unknown != "":
		in.scope = p.scope.boundBy(s)
	case s.unknown != "":
		in.scope = s.boundBy(p.scope)
	case s.covers(p.scope):
		in.scope = p.scope
	default:
		in.scope = unknownScope("two sections, one inside the other, limit the requests, and a rule has only one pattern").boundBy(p.scope, s)
	}
	return in
}

// filesScope returns the scope of <Files> or <FilesMatch>.
func filesScope(pattern string, matches bool, text string) scope {
	r := headers.Setting{Pattern: pattern}
	switch {
	case matches:
		r.Kind = headers.KindRegexp
	case pattern == "*":
		return everything()
	default:
		same, err := headers.ParseSetting([]string{r.Pattern, "noindex"})
		if r.Pattern != "" && (err != nil || same.Pattern != r.Pattern || same.Kind != "" || same.Not || strings.ContainsAny(r.Pattern, `[\`)) {
			pattern, ok := fnmatchRegexp(r.Pattern)
			if !ok {
				return unknownScope("%s: a bracket is not closed, or contains a class", text)
			}
			r = headers.Setting{Kind: headers.KindRegexp, Pattern: pattern}
		}
	}
	valid := r
	valid.Directives = headers.ReadDirectives("noindex")
	if err := valid.Validate(); err != nil {
		return unknownScope("%v", err)
	}
	return scope{patterns: []headers.Setting{r}}
}

// fnmatchRegexp converts a pattern of <Files> (apr_fnmatch), which may have *,
// ?, brackets and backslashes, to a regular expression. It returns false if it
// can't convert the pattern.
func fnmatchRegexp(s string) (string, bool) {
	if !strings.ContainsAny(s, "*?[") { // compared as it is
		return "^" + regexp.QuoteMeta(s) + "$", true
	}
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?':
			b.WriteString(".")
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		case c == '[':
			class, n := fnmatchClass(s[i+1:])
			if n == 0 {
				return "", false
			}
			b.WriteString(class)
			i += n
		case c >= 0x80: // a character of several octets
			b.WriteByte(c)
		default:
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		}
	}
	return b.String() + "$", true
}

// fnmatchClass converts a bracket expression to a character class of a regular
// expression. s starts after the opening bracket. fnmatchClass also returns the
// length of the expression up to and including the closing bracket, or 0 if it
// can't convert it.
func fnmatchClass(s string) (string, int) {
	var b strings.Builder
	b.WriteString("[")
	i := 0
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		b.WriteString("^")
		i++
	}
	for first := true; i < len(s); first = false {
		c := s[i]
		switch {
		case c == ']' && !first:
			return b.String() + "]", i + 1
		case c >= 0x80 || c == '[' || c == '\\' || c == '-' || c == ']':
			return "", 0 // a class, an escape, or a hyphen that may or may not be a range
		}
		b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		if i++; i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			if s[i+1] < c || !('a' <= s[i+1]|0x20 && s[i+1]|0x20 <= 'z') && !('0' <= s[i+1] && s[i+1] <= '9') {
				return "", 0
			}
			b.WriteString("-" + s[i+1:i+2])
			i += 2
		}
	}
	return "", 0
}

// locationScope returns the scope of <Location> or <LocationMatch>.
func locationScope(path string, matches bool, text string) scope {
	switch {
	case matches:
		return pathRegexp(path, false)
	case strings.ContainsAny(path, "*?[") || !strings.HasPrefix(path, "/"):
		begin := path[:max(0, strings.IndexAny(path, "*?["))]
		if !strings.HasPrefix(begin, "/") {
			begin = "/"
		}
		return unknownScope("%s: its wildcards do not match a slash, and the wildcards of rules do", text).boundBy(pathPrefix(begin))
	}
	return pathFolder(path)
}

// directoryScope returns the scope of <Directory>: the URLs of the folder, if
// these are known.
func (a *apacheServer) directoryScope(dir string, matches bool, text string) scope {
	if matches || !isFolder(dir) {
		return unknownScope("%s: rules can't express a pattern of folders", text)
	}
	dir = path.Clean(dir)
	switch {
	case a.mapped > 0:
		return unknownScope("%s: the URLs of the folder are not known, since line %d also maps URLs to files", text, a.mapped)
	case a.root == "":
		return unknownScope("%s: the URLs of the folder are not known without a DocumentRoot", text)
	case dir == "/" || dir == a.root || strings.HasPrefix(a.root, dir+"/"):
		return everything()
	case a.root == "/":
		return pathFolder(dir)
	case strings.HasPrefix(dir, a.root+"/"):
		return pathFolder(strings.TrimPrefix(dir, a.root))
	}
	return unknownScope("%s is not below DocumentRoot", text)
}

// isFolder reports whether the argument of <Directory> is the path of one folder.
func isFolder(s string) bool { return path.IsAbs(s) && !strings.ContainsAny(s, "*?[$") }

// hasModule reports whether a module is certainly loaded. mod_headers is always
// loaded, since the configuration has Header directives.
func (a *apacheServer) hasModule(name string) bool {
	name = strings.ToLower(name)
	return name == "mod_headers.c" || name == "headers_module" || name == "mod_headers" || a.modules[name]
}
