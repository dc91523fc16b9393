package headers

import (
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// views are the forms of a request target that patterns are compared with.
type views struct {
	name string // the file name as a server reads it; "" for a folder
	// path and query in canonical form, with the path as requested and as served. The
	// query is in the form for patterns without a `?`, then for those with one.
	requested, served [2]string
	buf               []byte
}

var viewsPool = sync.Pool{New: func() any { return new(views) }}

// maxKept is the maximal capacity, in octets, of a buffer that is kept for the next
// request.
const maxKept = 64 << 10

// release returns the views to the pool. They are no longer valid.
func (v *views) release() {
	*v = views{buf: v.buf}
	if cap(v.buf) <= maxKept {
		viewsPool.Put(v)
	}
}

// read returns the views of a request target. The caller must release them.
func read(target string) *views {
	v := viewsPool.Get().(*views)
	path, query, hasQuery := strings.Cut(canonical.OriginForm(target), "?")
	if canonical.IsPlain(target) {
		v.name = path[strings.LastIndexByte(path, '/')+1:]
		v.requested = [2]string{target, target}
		v.served = v.requested
		return v
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if hasQuery {
		query = "?" + query
	}
	v.buf = slices.Grow(v.buf[:0], 14*len(target)+16) // room for all forms: none moves when the next is added
	v.requested[0] = v.text(appendTarget(v.buf, path, query, canonical.Path))
	v.requested[1] = v.text(appendTarget(v.buf, path, query, canonical.Query))
	from := len(v.buf)
	v.name = v.text(appendServed(v.buf, path))
	decoded := v.buf[from:]
	v.name = v.name[strings.LastIndexByte(v.name, '/')+1:]
	v.served[0] = v.text(canonical.Append(canonical.AppendEncoded(v.buf, decoded), query, canonical.Path))
	v.served[1] = v.text(canonical.Append(canonical.AppendEncoded(v.buf, decoded), query, canonical.Query))
	return v
}

// text returns what b has behind the buffer, which becomes b.
func (v *views) text(b []byte) string {
	from := len(v.buf)
	v.buf = b
	return unsafe.String(unsafe.SliceData(b[from:]), len(b)-from)
}

func appendTarget(b []byte, path, query string, keep canonical.Octets) []byte {
	return canonical.Append(canonical.Append(b, path, canonical.Path), query, keep)
}

// appendServed appends the path as a server reads it: escapes are decoded once, dot
// segments are removed, and repeated slashes are merged. It keeps a slash at the end,
// unless that is from a dot segment: a server finds the folder or file before it.
func appendServed(b []byte, path string) []byte {
	from := len(b)
	b = canonical.AppendDecoded(b, path)
	open := b[len(b)-1] != '/'
	b = b[:from+len(canonical.CleanPath(b[from:], true))]
	if open && len(b) > from+1 && b[len(b)-1] == '/' {
		b = b[:len(b)-1]
	}
	return b
}

// match reports whether a pattern matches one of the two forms of a path.
func (v *views) match(p *pattern.Pattern) bool {
	i := 0
	if p.Query {
		i = 1
	}
	return p.Matches(v.requested[i]) || v.served[i] != v.requested[i] && p.Matches(v.served[i])
}
