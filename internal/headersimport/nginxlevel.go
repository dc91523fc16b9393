package headersimport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/headers"
)

// nginxLevel is a level of an nginx configuration: http, a server, a location,
// an if block in one of these, or an included file that is not known. A level
// without add_header directives inherits those of the level around it.
type nginxLevel struct {
	line     int
	outer    *nginxLevel // the level around this one; nil for http
	inner    []*nginxLevel
	kind     string // http, server, location or include; or the directive of a condition, such as "if ($a)"
	modifier string // of a location
	uri      string
	scope    scope

	adds      bool // the level has an add_header directive, for any header
	tags      []nginxTag
	more      []nginxTag // more_set_headers and more_clear_headers
	redirects []nginxRedirect
	indexes   []string
	answers   bool // the level has a handler, so that nginx does not search for an index file
	errorPage bool

	sent      []headers.Tag // set when all levels are known
	uncertain bool          // the level may send more or fewer tags than sent
}

// nginxTag is a line that sets or clears X-Robots-Tag.
type nginxTag struct {
	line      int
	tags      []headers.Tag
	clears    bool
	uncertain bool // the line has a condition, or a value that is not known
}

// nginxRedirect is a line that redirects requests to another location inside
// nginx.
type nginxRedirect struct {
	line int
	name string // of the directive
	to   string // a path or a named location; "" if it is not known
}

// String returns a name of the level for messages.
func (l *nginxLevel) String() string {
	switch l.kind {
	case "location":
		return fmt.Sprintf("location %s (line %d)", clip(strings.TrimSpace(l.modifier+" "+l.uri)), l.line)
	case "server", "http":
		return "the server block itself"
	case "include":
		return fmt.Sprintf("the included file (line %d)", l.line)
	}
	return fmt.Sprintf("%s (line %d)", l.kind, l.line)
}

// all calls yield with the level and all levels inside it. It stops and returns
// false if yield returns false.
func (l *nginxLevel) all(yield func(*nginxLevel) bool) bool {
	if !yield(l) {
		return false
	}
	for _, in := range l.inner {
		if !in.all(yield) {
			return false
		}
	}
	return true
}

// path returns the levels from the outermost level to l.
func (l *nginxLevel) path() []*nginxLevel {
	var p []*nginxLevel
	for ; l != nil; l = l.outer {
		p = append(p, l)
	}
	slices.Reverse(p)
	return p
}

// source returns the level with the add_header directives that apply on l.
func (l *nginxLevel) source() *nginxLevel {
	for !l.adds && l.outer != nil {
		l = l.outer
	}
	return l
}

// sends returns the tags that nginx sends on level l. uncertain means that it
// may send more or fewer tags, because of a condition or an unknown value.
func (l *nginxLevel) sends() (tags []headers.Tag, uncertain bool) {
	if l.kind == "include" {
		return nil, true
	}
	for _, t := range l.source().tags {
		uncertain = uncertain || t.uncertain
		tags = append(tags, t.tags...)
	}
	var more []headers.Tag
	for _, level := range l.path() {
		for _, t := range level.more {
			if t.uncertain {
				uncertain = true
				if !headers.Imply(t.tags, more) || t.clears {
					more = nil
				}
				continue
			}
			more = t.tags
		}
	}
	return append(tags, more...), uncertain
}

// precedes reports whether nginx may choose m for a request that both m and l
// match (nginx.org/en/docs/http/ngx_http_core_module.html#location).
func (m *nginxLevel) precedes(l *nginxLevel) bool {
	a, b := l.path(), m.path()
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	switch {
	case n == len(b): // m is around l
		return false
	case n == len(a): // m is within l
		return b[n].uri == "" || b[n].uri[0] != '@'
	}
	x, y := a[n], b[n]
	switch {
	case x.kind != "location" || y.kind != "location":
		return true
	case strings.HasPrefix(y.uri, "@"), x.modifier == "=":
		return false
	case y.modifier == "=":
		return true
	case x.isRegexp() && y.isRegexp():
		return slices.Index(x.outer.inner, y) < slices.Index(x.outer.inner, x)
	case x.isRegexp():
		return y.modifier == "^~" || m != y
	case y.isRegexp():
		return x.modifier != "^~" || slices.ContainsFunc(x.outer.inner, func(z *nginxLevel) bool {
			return !z.isRegexp() && z.modifier != "^~" && len(z.uri) > len(x.uri) && strings.HasPrefix(z.uri, x.uri)
		})
	}
	return len(y.uri) > len(x.uri)
}

func (l *nginxLevel) isRegexp() bool { return strings.HasPrefix(l.modifier, "~") }

// reaches reports whether nginx may choose m for some request in the scope of
// l.
func (m *nginxLevel) reaches(l *nginxLevel) bool {
	for x := m; x != nil; x = x.outer {
		if !x.scope.overlaps(l.scope) {
			return false
		}
	}
	return m.precedes(l)
}

// find returns the level inside l, or l itself, that nginx chooses for a path.
// final means that nginx then does not try regular expressions of the levels
// around l. known is false if the level can't be determined.
func (l *nginxLevel) find(path string) (found *nginxLevel, final, known bool) {
	var longest *nginxLevel
	for _, in := range l.inner {
		switch {
		case in.kind == "include":
			return l, false, false
		case in.kind != "location" || in.isRegexp() || strings.HasPrefix(in.uri, "@"):
		case in.modifier == "=":
			if in.uri == path {
				return in, true, true
			}
		case strings.HasPrefix(path, in.uri) && (longest == nil || len(in.uri) > len(longest.uri)):
			longest = in
		}
	}
	found = l
	if longest != nil {
		if found, final, known = longest.find(path); final || !known || longest.modifier == "^~" {
			return found, final, known
		}
	}
	for _, in := range l.inner {
		if in.kind != "location" || !in.isRegexp() {
			continue
		}
		s := in.uri
		if in.modifier == "~*" {
			s = "(?i)" + s
		}
		re, err := regexp.Compile(s)
		if err != nil {
			return l, false, false
		}
		if re.MatchString(path) {
			found, _, known = in.find(path)
			return found, true, known
		}
	}
	return found, false, true
}

// target returns the level that answers the requests of a redirect, nil if it
// is not known.
func (l *nginxLevel) target(r nginxRedirect) *nginxLevel {
	server := l
	for server.kind != "server" {
		server = server.outer
	}
	switch {
	case r.to == "":
		return nil
	case r.to[0] == '@':
		for _, in := range server.inner {
			if in.uri == r.to {
				return in
			}
		}
		return nil
	}
	if found, _, known := server.find(r.to); known {
		return found
	}
	return nil
}

// conditions appends to all the level l and the levels inside it that may apply
// in its place because of a condition.
func (l *nginxLevel) conditions(all []*nginxLevel) []*nginxLevel {
	all = append(all, l)
	for _, in := range l.inner {
		if in.kind != "location" {
			all = in.conditions(all)
		}
	}
	return all
}
