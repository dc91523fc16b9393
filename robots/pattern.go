package robots

import "strings"

// pattern is a rule's pattern, compiled. A pattern without a `*` that counts
// has only a prefix.
type pattern struct {
	prefix   string   // canonical, up to the first `*`
	parts    []string // canonical, between one `*` and the next, none empty
	last     string   // canonical, after the last `*`; only where anchored
	wild     bool     // there is a `*` with something after it
	anchored bool     // ends in `$`
	query    bool     // has a `?`, so its end is compared with the query
	octets   int      // its length in canonical form, `*` and `$` included
}

// compilePattern compiles a rule's pattern. It is not ok for one that can
// never match: RFC 9309 has paths start with a slash.
func compilePattern(s string, d Dialect, fold bool) (p pattern, ok bool) {
	if s == "" || s[0] != '/' && (s[0] != '*' || d.firstMatch()) {
		return p, false
	}
	if fold {
		defer p.fold()
	}
	path, query, hasQuery := strings.Cut(s, "?")
	p.query = hasQuery
	p.anchored = !d.firstMatch() && strings.HasSuffix(s, "$")
	if d.firstMatch() {
		b := appendCanonical(nil, path, pathDelimiter)
		p.prefix = string(appendQuery(b, query, hasQuery, queryDelimiter))
		p.octets = len(p.prefix)
		return p, true
	}
	if p.anchored {
		s = s[:len(s)-1]
		p.octets++
	}
	p.compileParts(s)
	return p, true
}

// compileParts cuts a pattern without its `$` at each `*`.
func (p *pattern) compileParts(s string) {
	var (
		buf  []byte
		keep = pathDelimiter
		n    int // number of `*` seen
		text string
	)
	for {
		part, rest, found := strings.Cut(s, "*")
		text = part
		if !isCanonical(part) {
			buf, keep = appendCanonicalPart(buf[:0], part, keep)
			text = string(buf)
		} else if strings.Contains(part, "?") {
			keep = queryDelimiter
		}
		p.octets += len(text) + 2*strings.Count(text, "*")
		if n == 0 {
			p.prefix = text
		} else if text != "" && found {
			p.parts = append(p.parts, text)
		}
		if !found {
			break
		}
		n++
		p.octets++
		s = rest
	}
	// RFC 9309, section 2.2.3 writes a literal `*` as %2A, and so a `$` at the
	// end as %24: three octets.
	if strings.HasSuffix(text, "$") && !p.anchored {
		p.octets += 2
	}
	if n == 0 {
		return
	}
	// text is what follows the last `*`.
	if text == "" {
		p.anchored = false // `*$` is `*`, and a `*` at the end adds nothing
	} else if p.anchored {
		p.last = text
	} else {
		p.parts = append(p.parts, text)
	}
	p.wild = len(p.parts) > 0 || p.anchored
}

// appendCanonicalPart appends the canonical form of a part of a pattern. The
// first `?` of the pattern begins its query.
func appendCanonicalPart(b []byte, s string, keep octetClass) ([]byte, octetClass) {
	if keep == pathDelimiter {
		path, query, found := strings.Cut(s, "?")
		b = appendCanonical(b, path, keep)
		if !found {
			return b, keep
		}
		b = append(b, '?')
		s, keep = query, queryDelimiter
	}
	return appendCanonical(b, s, keep), keep
}

func (p *pattern) fold() {
	p.prefix = lowerASCII(p.prefix)
	p.last = lowerASCII(p.last)
	for i, part := range p.parts {
		p.parts[i] = lowerASCII(part)
	}
}

// matchRest reports whether the pattern, whose prefix s is known to start
// with, matches s. Each part is taken where it first occurs, which leaves the
// most for those after it, so that no other place need be tried.
func (p *pattern) matchRest(s string) bool {
	s = s[len(p.prefix):]
	for _, part := range p.parts {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return !p.anchored || strings.HasSuffix(s, p.last)
}
