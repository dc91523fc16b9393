package robots

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// ViewOptions describes how the back end reads a path, in addition to what
// every back end does.
type ViewOptions struct {
	FoldCase    bool // paths are case-insensitive
	StripParams bool // `;` and what follows it up to the next `/` is no part of the path
	DecodeTwice bool // escapes are decoded a second time
}

// Views holds the two forms of one request target that rules are compared with.
// The first is the target as requested, in the canonical form of RFC 9309,
// section 2.2.2. The second is the target as served: the path is
// percent-decoded once, its dot segments are removed and its slashes merged, as
// file servers and most back ends do.
//
// The zero value is ready to use. A Views reuses its buffer, so that Reset does
// not allocate again. It is not safe for concurrent use, and it keeps a
// reference to the target of the last Reset.
type Views struct {
	raw       string // path and query as they were sent
	requested subject
	served    subject // only where differ is set
	file      subject // served without its last slash; only where dotted is set
	differ    bool    // what is served is not what was requested
	endsInDot bool    // the path ends in `/.`, which some back ends serve as the file before it
	fold      bool    // served is compared ignoring case
	buf       []byte
}

// reading returns how rules are read for the path as served.
func (v *Views) reading() reading {
	if v.fold {
		return asServedFolded
	}
	return asServed
}

// subject is a canonical request target.
type subject struct {
	// target has path and query in their canonical forms.
	target string
	// literal is target, but the query is in the canonical form of a path.
	// Patterns without a `?` are compared with it: their `*` may match a part
	// of the query, and `/*/admin` must not match the %2F in
	// `/login?next=%2Fadmin`.
	literal string
}

// isRobots reports whether the path is /robots.txt, which is always allowed
// (RFC 9309, section 2.2.2).
func (s *subject) isRobots() bool {
	path, ok := strings.CutPrefix(s.target, "/robots.txt")
	return ok && (path == "" || path[0] == '?')
}

// maxKeptBuffer bounds the buffer of a Views that is kept in a pool.
const maxKeptBuffer = 64 << 10

// Reset reads the request target of a request line: in origin form
// (/path?query), in absolute form with any scheme (http://user@host/path, of
// which only path and query count), or with an opaque path (http:private/x,
// whose path is /private/x). `*` and the empty target are `/`.
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

// span is a part of a Views' buffer.
type span struct{ from, to int }

func (v *Views) resetSlow(target string, o ViewOptions) {
	origin := originForm(target)
	path, query, hasQuery := strings.Cut(origin, "?")
	if cap(v.buf) > maxKeptBuffer {
		v.buf = nil
	}
	b := v.buf[:0]

	// As requested.
	b = appendRooted(b, path)
	b = canonical.Append(b, path, canonical.Path)
	firstPath := span{0, len(b)}
	hasEscapes := hasQuery && canonical.HasEscape(query)
	b, first, firstLiteral := appendSubject(b, firstPath, query, hasQuery, hasEscapes)

	// As served. The decoded path is appended to the buffer temporarily.
	decoded := len(b)
	b = appendRooted(b, path)
	b = appendServed(b, path, o)
	v.endsInDot = bytes.HasSuffix(b[decoded:], []byte("/."))
	clean := cleanPath(b[decoded:])
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
// escapes, it also appends the path with the other form of the query. It
// returns the spans of both.
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

// text returns a part of a buffer as a string without copying it. The buffer
// is not written to again while the string is in use: Reset sets all strings
// anew before it returns.
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

// appendServed appends a path as a back end with the options o decodes it.
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
	if o.DecodeTwice {
		b = b[:start+decodeInPlace(b[start:])]
	}
	if o.StripParams {
		b = b[:start+stripParams(b[start:])]
	}
	return b
}

func decodeInPlace(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '%' && i+2 < len(b) {
			if v, ok := canonical.Unescape(string(b[i:i+3]), 0); ok {
				c = v
				i += 2
			}
		}
		b[n] = c
		n++
	}
	return n
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

// cleanPath removes empty and dot segments in place, as path.Clean does, but
// a path that ends in one of these, or in a slash, keeps its last slash.
func cleanPath(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		// b[i] is a slash, and out has no slash at its end.
		for i < len(b) && b[i] == '/' {
			i++
		}
		from := i
		for i < len(b) && b[i] != '/' {
			i++
		}
		switch segment := b[from:i]; {
		case len(segment) == 0: // the path's last slash
			out = append(out, '/')
		case len(segment) == 1 && segment[0] == '.':
			if i == len(b) {
				out = append(out, '/')
			}
		case len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			for len(out) > 0 && out[len(out)-1] != '/' {
				out = out[:len(out)-1]
			}
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
			if i == len(b) {
				out = append(out, '/')
			}
		default:
			out = append(out, '/')
			out = append(out, segment...)
		}
	}
	if len(out) == 0 {
		out = append(out, '/')
	}
	return out
}

// originForm returns path and query of a request target.
func originForm(target string) string {
	if target == "" || target == "*" {
		return "/"
	}
	if target[0] == '/' {
		return target
	}
	rest, ok := cutScheme(target)
	if !ok {
		return target
	}
	if !strings.HasPrefix(rest, "//") {
		return rest
	}
	rest = rest[2:]
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// cutScheme returns what follows the scheme of a URI (RFC 3986, section 3.1).
func cutScheme(s string) (string, bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return s[i+1:], true
		default:
			return s, false
		}
	}
	return s, false
}

// release removes the reference to the target, so that a Views in a pool does
// not keep it alive.
func (v *Views) release() {
	v.raw, v.requested, v.served, v.file = "", subject{}, subject{}, subject{}
	v.differ, v.endsInDot = false, false
	if cap(v.buf) > maxKeptBuffer {
		v.buf = nil
	}
}
