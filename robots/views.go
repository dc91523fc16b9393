package robots

import (
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// ViewOptions describes what a back end does with a path, in addition to what
// all back ends do (see Views). Each option adds views: what is disallowed without
// it is also disallowed with it.
type ViewOptions struct {
	FoldCase    bool // it ignores upper and lower case
	StripParams bool // it removes path parameters: each `;` and the text after it, up to the next `/`
	DecodeTwice bool // it decodes escapes a second time
	Windows     bool // its files are on Windows: see canonical.Windows; it also ignores case
}

// Views holds the forms of a request target that rules are compared with. The
// first form is the target as requested, in the canonical form of RFC 9309,
// section 2.2.2. The other forms are those in which back ends read the target:
//
//   - as served: as file servers and most back ends do, it decodes each escape in
//     the path once, merges repeated slashes and removes dot segments;
//   - with %2F kept, but slashes merged and dot segments removed;
//   - with %2F and repeated slashes kept, but dot segments removed (RFC 3986,
//     section 5.2.4);
//   - without its last slash, if that is from a dot segment at the end;
//   - the forms for the ViewOptions, and for all combinations of them;
//   - for Google's reading, the escapes as sent.
//
// For most targets, all forms are equal. The zero value is ready to use. A Views
// reuses its buffer, so that Reset usually does not allocate. It keeps a
// reference to the target of the last Reset. A Views is not safe for concurrent
// use.
type Views struct {
	requested subject
	views     []view // all forms that differ; none if there is only one
	origin    string // the target in origin form, until addEscaped is called; "" if there is only one form
	folds     bool   // back ends ignore case
	buf       []byte
}

// subject is a form of a request target.
type subject struct {
	// target has the path in the canonical form of paths and the query in that
	// of queries.
	target string
	// literal has path and query in the canonical form of paths. Patterns
	// without a `?` are compared with it: a `*` in them may match a part of the
	// query, but `/*/admin` must not match the %2F in `/login?next=%2Fadmin`.
	literal string
}

// form returns the form that a pattern with or without a `?` is compared with.
func (s *subject) form(query bool) string {
	if query {
		return s.target
	}
	return s.literal
}

// view is a subject in the buffer of a Views.
type view struct {
	target, literal span
	path            span // the path of target
	fold            bool // compared ignoring case; the text is in lower case
	escaped         bool // only for the dialect Google; see addEscaped
}

// span is a range in the buffer of a Views.
type span struct{ from, to int }

// text returns a range of the buffer as a string, without copying it. This is
// safe since only Reset overwrites what is in the buffer, and Reset also replaces
// all views.
func (v *Views) text(s span) string {
	return unsafe.String(unsafe.SliceData(v.buf[s.from:]), s.to-s.from)
}

func (v *Views) subject(x *view) subject { return subject{v.text(x.target), v.text(x.literal)} }

// isRobots reports whether the path is /robots.txt, which is always allowed
// (RFC 9309, section 2.2.2).
func (s *subject) isRobots() bool {
	path, ok := strings.CutPrefix(s.target, "/robots.txt")
	return ok && (path == "" || path[0] == '?')
}

// maxKeptBuffer is the maximal capacity, in octets, of a buffer that a Views
// keeps.
const maxKeptBuffer = 64 << 10

// Reset sets the views to those of the target in a request line. The target may
// be in origin form (/path?query), in absolute form with any scheme
// (http://user@host/path; only path and query are used), or have a path without
// a host (http:private/x, with the path /private/x). Reset reads `*` and the
// empty target as `/`, and any other text as a path with a slash before it.
func (v *Views) Reset(target string, o ViewOptions) {
	v.views, v.origin = v.views[:0], ""
	if canonical.IsPlain(target) && o == (ViewOptions{}) {
		v.requested = subject{target, target}
		return
	}
	v.resetSlow(target, o)
}

// release removes the references to the target, so that a Views in a pool does
// not keep it in memory.
func (v *Views) release() {
	v.requested, v.views, v.origin = subject{}, v.views[:0], ""
	if cap(v.buf) > maxKeptBuffer {
		v.buf = nil
	}
}

// sent returns the target as google/robotstxt compares it: with its escapes as
// sent. It returns false if this is the target as requested.
func (v *Views) sent() (subject, bool) {
	for i := range v.views {
		if v.views[i].escaped {
			return v.subject(&v.views[i]), true
		}
	}
	return v.requested, false
}
