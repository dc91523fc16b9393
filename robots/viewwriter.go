package robots

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// mode is a set of options for the form of a path.
type mode uint8

const (
	stripSent    mode = 1 << iota // path parameters are removed before escapes are decoded
	stripDecoded                  // path parameters are removed after that
	decodeTwice
	windows
)

// modesFor returns the modes that can change a path. The path is in canonical form.
func modesFor(path string, o ViewOptions) (m mode) {
	again := o.DecodeTwice && strings.Contains(path, "%25")
	if again {
		m |= decodeTwice
	}
	if o.StripParams && (again || strings.Contains(path, ";")) {
		m |= stripSent | stripDecoded
	}
	if o.Windows {
		m |= windows
	}
	return m
}

// viewWriter writes the forms of a target to the buffer of a Views.
type viewWriter struct {
	*Views
	path, query            string
	hasQuery, escapedQuery bool
}

func (v *Views) resetSlow(target string, o ViewOptions) {
	if cap(v.buf) > maxKeptBuffer {
		v.buf = nil
	}
	v.buf, v.views = v.buf[:0], v.views[:0]
	w := viewWriter{Views: v}
	origin := canonical.OriginForm(target)
	w.addTarget(origin, o)
	if target, _, found := strings.Cut(origin, "#"); found { // as nginx does
		w.addTarget(target, ViewOptions{})
	}
	v.origin, v.folds = origin, o.FoldCase || o.Windows
	if v.folds {
		w.addFolded(0)
	}
	v.requested = v.subject(&v.views[0])
}

// addTarget adds the forms of a target in origin form.
func (w *viewWriter) addTarget(origin string, o ViewOptions) {
	w.path, w.query, w.hasQuery = strings.Cut(origin, "?")
	w.escapedQuery = w.hasQuery && strings.Contains(w.query, "%")
	from := len(w.buf)
	w.appendPath(false, appendCanonical)
	path := w.text(span{from, len(w.buf)})
	w.add(from)
	escapedSlash, doubled, dots := strings.Contains(path, "%2F"), strings.Contains(path, "//"), hasDotSegment(path)
	modes := modesFor(path, o)
	if modes == 0 && !escapedSlash && !doubled && !dots {
		return
	}
	for m := mode(0); ; {
		w.addServed(m)
		if escapedSlash && m&(stripDecoded|decodeTwice) == 0 {
			w.addKept(m, true)
		}
		if m == 0 && doubled && dots {
			w.addKept(m, false)
		}
		if m = (m - modes) & modes; m == 0 { // the next subset of modes
			return
		}
		if len(path) > maxKeptBuffer { // no server with such options takes a path of this length
			m = modes
		}
	}
}

func hasDotSegment(path string) bool {
	for {
		_, rest, found := strings.Cut(path, "/.")
		if !found {
			return false
		}
		if path = strings.TrimPrefix(rest, "."); path == "" || path[0] == '/' {
			return true
		}
	}
}

// addServed adds the target as served.
func (w *viewWriter) addServed(m mode) {
	from := len(w.buf)
	w.appendPath(m&stripSent != 0, canonical.AppendDecoded)
	b := w.buf
	if m&decodeTwice != 0 { // in place: the result is never ahead of what is read
		b = canonical.AppendDecoded(b[:from], w.text(span{from, len(b)}))
	}
	if m&stripDecoded != 0 {
		b = b[:from+stripParams(b[from:])]
	}
	open := b[len(b)-1] != '/'
	if m&windows != 0 {
		b = b[:from+len(canonical.Windows(b[from:], " "))]
	}
	end := from + len(canonical.CleanPath(b[from:], true))
	b = canonical.AppendEncoded(b[:end], b[from:end])
	w.buf = b[:from+copy(b[from:], b[end:])]
	w.addFile(from, open)
}

// addKept adds the target with escaped slashes kept, and with repeated slashes kept
// unless merge is set.
func (w *viewWriter) addKept(m mode, merge bool) {
	from := len(w.buf)
	w.appendPath(m&stripSent != 0, appendCanonical)
	open := w.buf[len(w.buf)-1] != '/'
	if m&windows != 0 {
		w.buf = w.buf[:from+len(canonical.Windows(w.buf[from:], "%20"))]
	}
	w.buf = w.buf[:from+len(canonical.CleanPath(w.buf[from:], merge))]
	w.addFile(from, open)
}

// addEscaped adds the forms that google/robotstxt compares with rules, with the
// escapes as sent: the target as sent; the query as sent with each form of the path;
// and the target with slashes merged and dot segments removed, once with only the
// escapes of dots decoded, once with those of all octets that need none.
//
// Only groups in the dialect Google need these forms, so they call addEscaped before
// they use the views.
func (v *Views) addEscaped() {
	if v.origin == "" { // the target has no other forms, or they are there
		return
	}
	w := viewWriter{Views: v}
	from, n := len(v.buf), len(v.views)
	origin, _, _ := strings.Cut(v.origin, "#")
	v.origin = ""
	if origin == "" || origin[0] != '/' {
		v.buf = append(v.buf, '/')
	}
	v.buf = canonical.AppendGoogle(v.buf, origin)
	sent := span{from, len(v.buf)}
	if v.text(sent) == v.requested.target {
		return
	}
	v.views = append(v.views, view{target: sent, literal: sent, escaped: true})
	path, query := sent, span{}
	if i := strings.IndexByte(v.text(sent), '?'); i >= 0 {
		path.to = from + i
		query = span{path.to, sent.to}
		for _, x := range v.views[:n] {
			if !x.fold {
				from := len(v.buf)
				v.buf = append(v.buf, v.text(x.path)...)
				w.endEscaped(from, query)
			}
		}
	}
	for _, octets := range [...]string{".", canonical.Unreserved} {
		from := len(v.buf)
		v.buf = canonical.AppendUnescaped(v.buf, v.text(path), octets)
		v.buf = v.buf[:from+len(canonical.CleanPath(v.buf[from:], true))]
		w.endEscaped(from, query)
	}
	if v.folds {
		w.addFolded(n)
	}
}

// endEscaped adds the view whose path is the buffer's text from an index on.
func (w *viewWriter) endEscaped(from int, query span) {
	w.buf = append(w.buf, w.text(query)...)
	x := span{from, len(w.buf)}
	if w.has(w.text(x)) {
		w.buf = w.buf[:from]
		return
	}
	w.views = append(w.views, view{target: x, literal: x, escaped: true})
}

// addFolded adds the views from an index on in lower case.
func (w *viewWriter) addFolded(from int) {
	for _, x := range w.views[from:] {
		lower := view{fold: true, escaped: x.escaped}
		lower.target = w.lower(x.target)
		if lower.literal = lower.target; x.literal != x.target {
			lower.literal = w.lower(x.literal)
		}
		w.views = append(w.views, lower)
	}
}

// lower appends a range of the buffer in lower case.
func (w *viewWriter) lower(s span) span {
	from := len(w.buf)
	w.buf = canonical.AppendLower(w.buf, w.text(s))
	return span{from, len(w.buf)}
}

// addFile adds the view whose path is the buffer's text from an index on. If open is
// set, a slash at the end is from a dot segment: some back ends then serve the file
// before the slash, so addFile adds it too.
func (w *viewWriter) addFile(from int, open bool) {
	end := len(w.buf) - 1
	file := open && end > from && w.buf[end] == '/'
	w.add(from)
	if file {
		from, path := len(w.buf), w.buf[from:end]
		w.buf = append(w.buf, path...)
		w.add(from)
	}
}

// add adds the view whose path is the buffer's text from an index on, unless
// there is one with the same text.
func (w *viewWriter) add(from int) {
	path := span{from, len(w.buf)}
	w.appendQuery(appendQuery)
	x := view{target: span{from, len(w.buf)}, path: path}
	if w.has(w.text(x.target)) {
		w.buf = w.buf[:from]
		return
	}
	if x.literal = x.target; w.escapedQuery {
		x.literal.from = len(w.buf)
		w.buf = append(w.buf, w.buf[path.from:path.to]...)
		w.appendQuery(appendCanonical)
		x.literal.to = len(w.buf)
	}
	w.views = append(w.views, x)
}

func (w *viewWriter) has(target string) bool {
	return slices.ContainsFunc(w.views, func(x view) bool { return !x.fold && w.text(x.target) == target })
}

func (w *viewWriter) appendQuery(form func([]byte, string) []byte) {
	if w.hasQuery {
		w.buf = form(append(w.buf, '?'), w.query)
	}
}

// appendPath appends a form of the path, with a slash before it if it has none. If
// strip is set, it leaves out path parameters.
func (w *viewWriter) appendPath(strip bool, form func([]byte, string) []byte) {
	path := w.path
	if path == "" || path[0] != '/' {
		w.buf = append(w.buf, '/')
	}
	for strip {
		part, rest, found := strings.Cut(path, ";")
		if !found {
			break
		}
		w.buf = form(w.buf, part)
		if path = ""; strings.Contains(rest, "/") {
			path = rest[strings.IndexByte(rest, '/'):]
		}
	}
	w.buf = form(w.buf, path)
}

func appendCanonical(b []byte, s string) []byte { return canonical.Append(b, s, canonical.Path) }

func appendQuery(b []byte, s string) []byte { return canonical.Append(b, s, canonical.Query) }

func stripParams(b []byte) int {
	n := 0
	skip := false
	for _, c := range b {
		switch c {
		case ';':
			skip = true
		case '/':
			skip = false
		}
		if !skip {
			b[n] = c
			n++
		}
	}
	return n
}
