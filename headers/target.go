package headers

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// views are the forms of a request target that patterns are compared with.
type views struct {
	name   string // the file name as a server reads it; "" for a folder
	target string // path and query in normal form (see appendNormal)
	served string // the same, with the path as a server reads it; "" if it is equal to target
}

// buffers holds the views of a target that is not in normal form.
type buffers struct{ path, target, served []byte }

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// maxPooled is the maximal capacity, in octets, of a buffer that is kept for
// the next request.
const maxPooled = 16 << 10

// release returns the buffers to the pool. Views into them are no longer valid.
func (b *buffers) release() {
	if b != nil && cap(b.path) <= maxPooled && cap(b.target) <= maxPooled && cap(b.served) <= maxPooled {
		bufferPool.Put(b)
	}
}

// read returns the views of a request target. It returns the name in any case,
// and the other views only if paths is set. The caller must call release on the
// buffers after use; they are nil if the target is in normal form.
func read(target string, paths bool) (views, *buffers) {
	target = canonical.OriginForm(target)
	path, query := target, ""
	if i := strings.IndexByte(target, '?'); i >= 0 {
		path, query = target[:i], target[i:]
	}
	escaped := strings.IndexByte(path, '%') >= 0
	dots := strings.Contains(path, "/.") || strings.Contains(path, "//")
	if !escaped && !dots && (!paths || strings.IndexByte(query, '%') < 0) {
		return views{name: path[strings.LastIndexByte(path, '/')+1:], target: target}, nil
	}
	b := bufferPool.Get().(*buffers)
	v := views{target: target}
	b.path = readPath(b.path, path)
	b.target = b.target[:0]
	served := view(b.path)
	v.name = served[strings.LastIndexByte(served, '/')+1:]
	if !paths {
		return v, b
	}
	b.target = appendNormal(b.target, target)
	b.served = appendNormal(append(b.served[:0], b.path...), query)
	v.target, v.served = view(b.target), view(b.served)
	return v, b
}

// view returns b as a string, which is valid until b is written to.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// appendNormal appends the normal form of s: it decodes all escapes except
// those of octets that would change the structure (/, ?, # and %). These keep
// their escapes, with upper-case digits. Two texts that are equal according to
// RFC 9309, section 2.2.2 have the same normal form.
func appendNormal(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c, ok := canonical.Unescape(s, i)
		switch {
		case !ok:
			b = append(b, s[i])
			continue
		case c == '/' || c == '?' || c == '#' || c == '%':
			b = canonical.AppendEscape(b, c)
		default:
			b = append(b, c)
		}
		i += 2
	}
	return b
}

// readPath returns the path as a server reads it, in the array of b: escapes are
// decoded once, dot segments are removed, and repeated slashes are merged. It
// keeps a slash at the end.
func readPath(b []byte, path string) []byte {
	if path == "" || path[0] != '/' {
		return append(b[:0], path...) // not of a URL
	}
	b = canonical.CleanPath(canonical.AppendDecoded(b[:0], path))
	if n := len(b); n > 1 && b[n-1] == '/' && !strings.HasSuffix(path, "/") && !strings.HasSuffix(strings.ToLower(path), "%2f") {
		return b[:n-1] // the path ends in a dot segment: a server finds the folder or file before it
	}
	return b
}
