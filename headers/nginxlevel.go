package headers

import (
	"fmt"
	"slices"
	"strings"
)

// nginxLevel is a level of an nginx configuration: http, a server, a location,
// or an if in one of these. A level without add_header directives inherits
// those of the level around it.
type nginxLevel struct {
	line     int
	outer    *nginxLevel // nil for the level around the servers
	inner    []*nginxLevel
	kind     string // server, location, if, include
	modifier string // of a location
	uri      string
	scope    scope

	adds      bool // it has an add_header of its own, of whatever name
	tags      []nginxTag
	more      []nginxTag // more_set_headers and more_clear_headers
	redirects []nginxRedirect
	indexes   []string
	answers   bool // it has a handler of its own, so that no index file is looked for
	errorPage bool
}

// nginxTag is a line that sets X-Robots-Tag, or clears it.
type nginxTag struct {
	line      int
	tags      []Tag
	clears    bool
	uncertain bool // under a condition, or with a value that is not known
}

// nginxRedirect is a line that redirects requests internally to another
// location.
type nginxRedirect struct {
	line int
	name string // of the directive
	to   string // a path or a named location; "" if it is not known
}

// String names the level in a message.
func (l *nginxLevel) String() string {
	switch l.kind {
	case "location":
		return fmt.Sprintf("location %s (line %d)", clip(strings.TrimSpace(l.modifier+" "+l.uri)), l.line)
	case "server", "http":
		return "no location"
	case "include":
		return fmt.Sprintf("the included file (line %d)", l.line)
	}
	return fmt.Sprintf("%s (line %d)", l.kind, l.line)
}

// all yields the level and all below it.
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

// path returns the levels from the outermost one to l.
func (l *nginxLevel) path() []*nginxLevel {
	var p []*nginxLevel
	for ; l != nil; l = l.outer {
		p = append(p, l)
	}
	slices.Reverse(p)
	return p
}

// source returns the level whose add_header directives apply on l.
func (l *nginxLevel) source() *nginxLevel {
	for !l.adds && l.outer != nil {
		l = l.outer
	}
	return l
}

// sent returns the tags that are certainly sent on level l. It also reports
// whether more or fewer tags may be sent, because of a condition or an unknown
// value.
func (l *nginxLevel) sent() (tags []Tag, uncertain bool) {
	if l.kind == "include" {
		return nil, true
	}
	for _, t := range l.source().tags {
		uncertain = uncertain || t.uncertain
		tags = append(tags, t.tags...)
	}
	var more []Tag
	for _, level := range l.path() {
		for _, t := range level.more {
			if t.uncertain {
				uncertain = true
				if !imply(t.tags, more) || t.clears {
					more = nil
				}
				continue
			}
			more = t.tags
		}
	}
	return append(tags, more...), uncertain
}

// beats reports whether nginx may choose m for a request that l matches too
// (nginx.org/en/docs/http/ngx_http_core_module.html#location).
func (m *nginxLevel) beats(l *nginxLevel) bool {
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

// reaches reports whether nginx may choose m for a request in the scope of l.
func (m *nginxLevel) reaches(l *nginxLevel) bool {
	for x := m; x != nil; x = x.outer {
		if !x.scope.overlaps(l.scope) {
			return false
		}
	}
	return m.beats(l)
}

// find returns the level that nginx chooses for a path, starting at level l.
// final means that nginx does not try regular expressions of the levels around
// it. known is false if the level can't be determined.
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
		re, err := newNameRegexp(s)
		if err != nil {
			return l, false, false
		}
		if re.re.MatchString(path) {
			found, _, known = in.find(path)
			return found, true, known
		}
	}
	return found, false, true
}

// target returns the level that answers redirected requests, nil if any level
// may.
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

// conditions adds to all the level and the levels that may replace it because
// of a condition.
func (l *nginxLevel) conditions(all []*nginxLevel) []*nginxLevel {
	all = append(all, l)
	for _, in := range l.inner {
		if in.kind != "location" {
			all = in.conditions(all)
		}
	}
	return all
}
