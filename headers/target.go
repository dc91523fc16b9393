package headers

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/nameglob"
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

// inlineValues is the number of different header values of a table for which a
// Match has room without allocating.
const inlineValues = 512

// Match is the set of rules that match a request. Table.Match returns it before
// the handler runs. Apply adds the header later, when the status and the media
// type of the response are known. The zero Match applies no rules.
type Match struct {
	rules *Table
	n     int
	few   [inlineValues / 64]uint64 // a bit for each of rules.values
	many  []uint64                  // in place of few; nil if few has enough room
}

// Empty reports whether no rule for a name or path matches. If
// Table.NeedsResponse is true, rules for a media type or status may still
// match.
func (m *Match) Empty() bool { return m.n == 0 }

// bits returns a bit for each of rules.values. m.n must not be 0.
func (m *Match) bits() []uint64 {
	if m.many != nil {
		return m.many
	}
	return m.few[:]
}

// has reports whether m has a header value, by its index.
func (m *Match) has(value int32) bool { return m.n > 0 && m.bits()[value>>6]&(1<<(value&63)) != 0 }

// add adds a header value, by its index.
func (m *Match) add(value int32) {
	if m.has(value) {
		return
	}
	if m.n == 0 && len(m.rules.values) > inlineValues {
		m.many = make([]uint64, (len(m.rules.values)+63)/64)
	}
	m.n++
	m.bits()[value>>6] |= 1 << (value & 63)
}

// each calls f for all header values: first for those for all crawlers, then
// for the others, grouped by crawler.
func (m *Match) each(f func(*headerValue)) {
	for i, word := range m.bits() {
		for ; word != 0; word &= word - 1 {
			f(&m.rules.values[i<<6+bits.TrailingZeros64(word)])
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
	m.addRules(r.names[v.name])
	m.addLiterals(&r.prefixes, v.name, &v)
	for i := range r.suffixes.lengths {
		x := &r.suffixes.lengths[i]
		if x.n > len(v.name) {
			break
		}
		if end := v.name[len(v.name)-x.n:]; x.mayHave(end) {
			m.addMatching(r.suffixes.rules[end], &v)
		}
	}
	if r.hasPaths {
		m.addLiterals(&r.paths, v.target, &v)
		m.addLiterals(&r.paths, v.served, &v)
	}
	m.addMatching(r.others, &v)
	b.release()
	return m
}

// matches reports whether the pattern of a rule for a name or path matches.
func (c *compiled) matches(v *views) bool {
	switch p := c.pattern.(type) {
	case *nameglob.Glob:
		return p.Match(v.name)
	case *nameRegexp:
		return p.match(v.name)
	case *pathGlob:
		return p.matchViews(v)
	}
	return false
}

// addLiterals adds the rules that match, of those in l whose literal is a prefix
// of s.
func (m *Match) addLiterals(l *literals, s string, v *views) {
	for i := range l.lengths {
		x := &l.lengths[i]
		if x.n > len(s) {
			break
		}
		if start := s[:x.n]; x.mayHave(start) {
			m.addMatching(l.rules[start], v)
		}
	}
}

// addMatching adds the header values of the rules that match.
func (m *Match) addMatching(ids []int32, v *views) {
	for _, id := range ids {
		if c := &m.rules.rules[id]; !m.has(c.value) && c.matches(v) != c.Not {
			m.add(c.value)
		}
	}
}

// addRules adds the header values of rules.
func (m *Match) addRules(ids []int32) {
	for _, id := range ids {
		m.add(m.rules.rules[id].value)
	}
}

// literals finds the rules whose key is the start or the end of a string. Its
// time depends on the number of different lengths of the keys, and not on the
// number of keys.
type literals struct {
	lengths []literalLength // sorted
	rules   map[string][]int32
}

// literalLength is a length of keys, and the first and last octets of the keys of
// that length, so that most strings need no lookup.
type literalLength struct {
	n           int
	first, last [4]uint64 // a bit for each octet
}

func (l *literals) add(key string, rule int32) {
	if l.rules == nil {
		l.rules = map[string][]int32{}
	}
	i, known := slices.BinarySearchFunc(l.lengths, len(key), func(x literalLength, n int) int { return x.n - n })
	if !known {
		l.lengths = slices.Insert(l.lengths, i, literalLength{n: len(key)})
	}
	if at := &l.lengths[i]; key != "" {
		at.first[key[0]>>6] |= 1 << (key[0] & 63)
		at.last[key[len(key)-1]>>6] |= 1 << (key[len(key)-1] & 63)
	}
	l.rules[key] = append(l.rules[key], rule)
}

// mayHave reports whether a key of this length can be equal to s.
func (x *literalLength) mayHave(s string) bool {
	if s == "" {
		return true
	}
	a, b := s[0], s[len(s)-1]
	return x.first[a>>6]>>(a&63)&(x.last[b>>6]>>(b&63))&1 != 0
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

// nameRegexp is a regular expression that is searched for in a file name. If it
// is equivalent to a few literals, such as `\.(pdf|docx?)$`, the tables of file
// names have these literals instead.
type nameRegexp struct {
	re    *regexp.Regexp
	globs []*nameglob.Glob // equivalent patterns; nil if there are none, so that the regular expression must be run
}

func newNameRegexp(s string) (*nameRegexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	return &nameRegexp{re, nameglob.FromRegexp(s)}, nil
}

func (n *nameRegexp) match(name string) bool {
	if n.globs == nil {
		return n.re.MatchString(name)
	}
	return slices.ContainsFunc(n.globs, func(g *nameglob.Glob) bool { return g.Match(name) })
}
