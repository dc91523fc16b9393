package headers

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// apacheStage is when sections of a kind are merged
// (httpd.apache.org/docs/2.4/sections.html#merging).
type apacheStage int

const (
	outsideSections apacheStage = iota
	inDirectory
	inDirectoryMatch
	inFiles
	inNestedFiles // in a Directory
	inLocation
	inIf
)

// place describes the sections that a directive is in.
type place struct {
	stage apacheStage
	depth int // of the directory
	scope scope
	text  string // the innermost section, for messages
}

// within returns the place of the directives in a section at place p.
func (a *apacheServer) within(p place, d *apacheDirective) place {
	text := fmt.Sprintf("<%s> (line %d)", clip(strings.Join(append([]string{d.title}, d.args...), " ")), d.line)
	args := d.args
	matches := strings.HasSuffix(d.name, "match")
	if len(args) == 2 && args[0] == "~" && !matches {
		matches, args = true, args[1:]
	}
	in := place{p.stage, p.depth, scope{}, text}
	var s scope
	switch d.name {
	case "ifmodule":
		if len(args) == 1 && a.hasModule(args[0]) {
			return p
		}
		s = unknownScope("%s: whether it holds is not known here", text)
	case "files", "filesmatch":
		in.stage = inFiles
		if p.stage == inDirectory || p.stage == inDirectoryMatch {
			in.stage = inNestedFiles
		}
		s = filesScope(args, matches, text)
	case "location", "locationmatch":
		in.stage = inLocation
		s = a.locationScope(args, matches, text)
	case "directory", "directorymatch":
		in.stage = inDirectory
		if matches {
			in.stage = inDirectoryMatch
		}
		s = a.directoryScope(args, matches, text, &in)
	case "if", "elseif", "else":
		in.stage = inIf
		s = unknownScope("%s: a rule knows names, paths, media types and statuses only", text)
	default:
		s = unknownScope("%s: a rule knows names, paths, media types and statuses only", text)
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
		in.scope = unknownScope("a section in a section: a rule has one pattern, and here two limit the header at once").boundBy(p.scope, s)
	}
	return in
}

// filesScope is the scope of <Files> or <FilesMatch>.
func filesScope(args []string, matches bool, text string) scope {
	if len(args) != 1 {
		return unknownScope("%s with %d arguments", text, len(args))
	}
	r := Rule{Pattern: args[0]}
	switch {
	case matches:
		r.Kind = KindRegexp
	case args[0] == "*":
		return everything()
	default:
		_, err := namePattern(r.Pattern)
		if err != nil || strings.ContainsAny(r.Pattern, `[\`) || kindWords[r.Pattern] != "" || r.Pattern == "not" || strings.HasPrefix(r.Pattern, "!") {
			pattern, ok := fnmatchRegexp(r.Pattern)
			if !ok {
				return unknownScope("%s: a bracket that is not closed, or a class in it", text)
			}
			r = Rule{Kind: KindRegexp, Pattern: pattern}
		}
	}
	if _, err := r.pattern(); err != nil {
		return unknownScope("%v", err)
	}
	return scope{patterns: []Rule{r}}
}

// fnmatchRegexp converts a pattern of <Files> with *, ?, brackets and
// backslashes (apr_fnmatch) to a regular expression. It returns false if it
// can't.
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
// expression. It also returns the length of the bracket expression, with the
// closing bracket, or 0 if it can't convert it.
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
			return "", 0 // classes, escapes, and what is a range or not by its place
		}
		b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		if i++; i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			if !isLetterOrDigit(s[i+1]) || s[i+1] < c {
				return "", 0
			}
			b.WriteString("-" + s[i+1:i+2])
			i += 2
		}
	}
	return "", 0
}

// locationScope is the scope of <Location> or <LocationMatch>.
func (a *apacheServer) locationScope(args []string, matches bool, text string) scope {
	switch {
	case len(args) != 1:
		return unknownScope("%s with %d arguments", text, len(args))
	case matches:
		return pathRegexp(args[0], false)
	case strings.ContainsAny(args[0], "*?[") || !strings.HasPrefix(args[0], "/"):
		begin := args[0][:max(0, strings.IndexAny(args[0], "*?["))]
		if !strings.HasPrefix(begin, "/") {
			begin = "/"
		}
		return unknownScope("%s: wildcards that stop at a slash", text).boundBy(pathPrefix(begin))
	}
	return pathFolder(args[0])
}

// directoryScope is the scope of <Directory>, if the URLs of the directory are
// known.
func (a *apacheServer) directoryScope(args []string, matches bool, text string, in *place) scope {
	switch {
	case len(args) != 1:
		return unknownScope("%s with %d arguments", text, len(args))
	case matches || strings.ContainsAny(args[0], "*?[$") || !path.IsAbs(args[0]):
		return unknownScope("%s: a pattern of folders", text)
	}
	dir := path.Clean(args[0])
	in.depth = strings.Count(dir, "/")
	if dir == "/" {
		in.depth = 0
	}
	switch {
	case a.mapped > 0:
		return unknownScope("%s: line %d maps URLs to files or elsewhere", text, a.mapped)
	case a.root == "":
		return unknownScope("%s: no DocumentRoot says which URLs lead there", text)
	case dir == "/" || dir == a.root || strings.HasPrefix(a.root, dir+"/"):
		return everything()
	case a.root == "/":
		return pathFolder(dir)
	case strings.HasPrefix(dir, a.root+"/"):
		return pathFolder(strings.TrimPrefix(dir, a.root))
	}
	return unknownScope("%s is not below DocumentRoot", text)
}

// hasModule reports whether a module is known to be loaded. mod_headers is,
// since the configuration has Header directives.
func (a *apacheServer) hasModule(name string) bool {
	name = strings.ToLower(name)
	return name == "mod_headers.c" || name == "headers_module" || name == "mod_headers" || a.modules[name]
}
