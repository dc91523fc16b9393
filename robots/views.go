package robots

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// ViewOptions describes what a back end does with a path, in addition to what
// all back ends do (see Views).
type ViewOptions struct {
	FoldCase    bool // it ignores upper and lower case
	StripParams bool // it removes path parameters: each `;` and the text after it, up to the next `/`
	DecodeTwice bool // it decodes escapes a second time
}

// Views holds the two forms of a request target that rules are compared with.
// The first form is the target as requested, in the canonical form of RFC 9309,
// section 2.2.2. The second form is the target as served: as file servers and
// most back ends do, it decodes each escape in the path once, merges repeated
// slashes and removes dot segments.
//
// The zero value is ready to use. A Views reuses its buffer, so that Reset
// usually does not allocate. It keeps a reference to the target of the last
// Reset. A Views is not safe for concurrent use.
type Views struct {
	raw       string // path and query as sent
	requested subject
	served    subject // valid if differ is set
	file      subject // served without its last slash; valid if endsInDot is set
	differ    bool    // served differs from requested
	endsInDot bool    // the path ends in `/.`; some back ends then serve the file before the slash
	fold      bool    // the comparison with served ignores case
	buf       []byte
}

// reading returns the reading for the target as served.
func (v *Views) reading() reading {
	if v.fold {
		return asServedFolded
	}
	return asServed
}

// subject is a request target in canonical form.
type subject struct {
	// target has the path in the canonical form of paths and the query in that
	// of queries.
	target string
	// literal has path and query in the canonical form of paths. Patterns
	// without a `?` are compared with it: a `*` in them may match a part of the
	// query, but `/*/admin` must not match the %2F in `/login?next=%2Fadmin`.
	literal string
}

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
	v.fold = o.FoldCase
	if canonical.IsPlain(target) {
		v.raw, v.requested = target, subject{target, target}
		v.differ, v.endsInDot = false, false
		if o == (ViewOptions{}) {
			return
		}
	}
	v.resetSlow(target, o)
}

// span is a range in the buffer of a Views.
type span struct{ from, to int }

func (v *Views) resetSlow(target string, o ViewOptions) {
	origin := canonical.OriginForm(target)
	path, query, hasQuery := strings.Cut(origin, "?")
	if cap(v.buf) > maxKeptBuffer {
		v.buf = nil
	}
	b := v.buf[:0]

	// As requested.
	b = appendRooted(b, path)
	b = canonical.Append(b, path, canonical.Path)
	firstPath := span{0, len(b)}
	hasEscapes := hasQuery && strings.Contains(query, "%")
	b, first, firstLiteral := appendSubject(b, firstPath, query, hasQuery, hasEscapes)

	// As served. The decoded path is appended to the buffer temporarily.
	decoded := len(b)
	b = appendRooted(b, path)
	b = appendServed(b, path, o)
	v.endsInDot = bytes.HasSuffix(b[decoded:], []byte("/."))
	clean := canonical.CleanPath(b[decoded:])
	end := decoded + len(clean)
	v.endsInDot = v.endsInDot && len(clean) > 1
	b = canonical.AppendEncoded(b[:end], b[decoded:end])
	servedPath := span{end, len(b)}
	b, served, servedLiteral := appendSubject(b, servedPath, query, hasQuery, hasEscapes)
	var file, fileLiteral span
	if v.endsInDot {
		from := len(b)
		b = append(b, b[servedPath.from:servedPath.to-1]...)
		b, file, fileLiteral = appendSubject(b, span{from, len(b)}, query, hasQuery, hasEscapes)
	}
	if o.FoldCase {
		canonical.Fold(b[end:])
	}
	v.buf = b
	v.requested = subject{text(b, first), text(b, firstLiteral)}
	v.served = subject{text(b, served), text(b, servedLiteral)}
	v.file = subject{text(b, file), text(b, fileLiteral)}
	v.differ = o.FoldCase || v.served != v.requested
	if v.raw, _, _ = strings.Cut(origin, "#"); v.raw == "" || v.raw[0] != '/' {
		v.raw = v.requested.target
	}
}

// appendSubject appends the query to the path at the end of b. If the query has
// escapes, it then appends the path and the other form of the query. It returns
// the spans of both forms.
func appendSubject(b []byte, path span, query string, hasQuery, hasEscapes bool) (_ []byte, target, literal span) {
	b = appendQuery(b, query, hasQuery, canonical.Query)
	target = span{path.from, len(b)}
	literal = target
	if hasEscapes {
		b = append(b, b[path.from:path.to]...)
		b = appendQuery(b, query, hasQuery, canonical.Path)
		literal = span{target.to, len(b)}
	}
	return b, target, literal
}

// text returns a range of a buffer as a string, without copying it. This is
// safe since only Reset writes to the buffer, and Reset also replaces all
// strings.
func text(b []byte, s span) string {
	return unsafe.String(unsafe.SliceData(b[s.from:]), s.to-s.from)
}

func appendRooted(b []byte, path string) []byte {
	if path == "" || path[0] != '/' {
		b = append(b, '/')
	}
	return b
}

func appendQuery(b []byte, query string, has bool, keep canonical.Octets) []byte {
	if !has {
		return b
	}
	return canonical.Append(append(b, '?'), query, keep)
}

// appendServed appends a path, decoded as a back end with the options o does.
func appendServed(b []byte, path string, o ViewOptions) []byte {
	start := len(b)
	if o.StripParams {
		for path != "" {
			part, rest, found := strings.Cut(path, ";")
			b = canonical.AppendDecoded(b, part)
			if !found {
				break
			}
			slash := strings.IndexByte(rest, '/')
			if slash < 0 {
				break
			}
			path = rest[slash:]
		}
	} else {
		b = canonical.AppendDecoded(b, path)
	}
	if o.DecodeTwice { // in place: the result is never ahead of what is read
		b = canonical.AppendDecoded(b[:start], text(b, span{start, len(b)}))
	}
	if o.StripParams {
		b = b[:start+stripParams(b[start:])]
	}
	return b
}

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

// release removes the references to the target, so that a Views in a pool does
// not keep it in memory.
func (v *Views) release() {
	b := v.buf
	*v = Views{}
	if cap(b) <= maxKeptBuffer {
		v.buf = b
	}
}
