package headers

import (
	"math/bits"
	"path"
	"regexp"
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
	b = canonical.CleanPath(canonical.AppendDecoded(b[:0], path), true)
	if n := len(b); n > 1 && b[n-1] == '/' && !strings.HasSuffix(path, "/") && !strings.HasSuffix(strings.ToLower(path), "%2f") {
		return b[:n-1] // the path ends in a dot segment: a server finds the folder or file before it
	}
	return b
}

// Match is the set of rules that match a request. Table.Match returns it before
// the handler runs. Apply adds the header later, when the status and the media
// type of the response are known. The zero Match applies no rules.
type Match struct {
	rules *Table
	set   [(maxSettings + 63) / 64]uint64 // a bit for each of rules.rules
}

// Empty reports whether no rule for a name or path matches. If
// Table.NeedsResponse is true, rules for a media type or status may still
// match.
func (m *Match) Empty() bool { return m.set == [len(m.set)]uint64{} }

// add adds a rule, by its index.
func (m *Match) add(rule int) { m.set[rule>>6] |= 1 << (rule & 63) }

// each calls f for all rules: first for those for all crawlers, then for the
// others, grouped by crawler.
func (m *Match) each(f func(*compiled)) {
	for i, word := range m.set {
		for ; word != 0; word &= word - 1 {
			f(&m.rules.rules[i<<6+bits.TrailingZeros64(word)])
		}
	}
}

// Match finds the rules for file names and paths that match a request. target
// is the path and query as requested: percent-encoded, before any rewrite. It
// may be in absolute form. Match compares patterns for names with the file name
// as a server reads it: percent-decoded once, without dot segments. It compares
// patterns for paths with two forms of the target: with the path as a server
// reads it, and with the canonical form of RFC 9309. A rule matches if its
// pattern matches one of the two.
func (r *Table) Match(target string) Match {
	m := Match{rules: r}
	if r == nil || len(r.rules) == 0 {
		return m
	}
	v, b := read(target, r.hasPaths)
	for i := range r.rules {
		if c := &r.rules[i]; c.ofRequest && c.matches(&v) != c.Not {
			m.add(i)
		}
	}
	b.release()
	return m
}

// matches reports whether the pattern of a rule for a name or path matches.
func (c *compiled) matches(v *views) bool {
	switch p := c.pattern.(type) {
	case *nameGlob:
		return p.match(v.name)
	case *regexp.Regexp:
		return p.MatchString(v.name)
	case *pathGlob:
		return p.matchViews(v)
	}
	return false
}

// nameGlob is a pattern for file names: * matches any characters, ? matches one.
type nameGlob struct {
	pattern        string
	prefix, suffix string // the texts before the first and after the last * or ?
	star           bool   // there is only a * between them
}

func newNameGlob(s string) *nameGlob {
	first, last := strings.IndexAny(s, "*?"), strings.LastIndexAny(s, "*?")
	return &nameGlob{s, s[:max(first, 0)], s[last+1:], first >= 0 && first == last && s[first] == '*'}
}

func (g *nameGlob) match(name string) bool {
	if !strings.HasSuffix(name, g.suffix) || !strings.HasPrefix(name, g.prefix) {
		return false
	}
	if g.star {
		return len(name) >= len(g.prefix)+len(g.suffix)
	}
	matches, _ := path.Match(g.pattern, name) // the pattern has no [ and no \
	return matches
}

// pathGlob is a pattern for paths in robots.txt syntax (RFC 9309, section
// 2.2.3): it matches the start of a path and query. * matches any octets, and $
// at the end of the pattern matches the end of the target.
type pathGlob struct {
	prefix   string   // normal form of the text before the first *
	parts    []string // normal forms of the texts between and after the *
	anchored bool     // the pattern ends in $, so the target must end with the last part
}

func newPathGlob(s string) *pathGlob {
	s, end := strings.CutSuffix(s, "$")
	parts := strings.Split(s, "*")
	for i, part := range parts {
		parts[i] = string(appendNormal(nil, part))
	}
	g := &pathGlob{prefix: parts[0], anchored: end}
	for i, part := range parts[1:] {
		if part != "" || end && i == len(parts)-2 {
			g.parts = append(g.parts, part)
		}
	}
	return g
}

// match reports whether the pattern matches target, which must be in normal
// form. It searches for each part only once, behind the part before, so its
// time is proportional to the length of target.
func (g *pathGlob) match(target string) bool {
	rest, found := strings.CutPrefix(target, g.prefix)
	if !found {
		return false
	}
	if len(g.parts) == 0 {
		return !g.anchored || rest == ""
	}
	middle := g.parts
	if g.anchored {
		middle = middle[:len(middle)-1]
	}
	for _, part := range middle {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return !g.anchored || strings.HasSuffix(rest, g.parts[len(g.parts)-1])
}

// matchViews reports whether the pattern matches one of the two forms of a path.
func (g *pathGlob) matchViews(v *views) bool {
	return g.match(v.target) || v.served != "" && g.match(v.served)
}
