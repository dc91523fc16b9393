// Package nearmiss finds requests that a Disallow line misses by a slash or `$` at its
// end, by upper and lower case, or by an escape, and the line to add for them.
package nearmiss

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Rules are those of a robots.txt, with the lines that could be added to it. They are
// not safe for concurrent use.
type Rules struct {
	file  *robots.File // with the added lines
	lines []line       // by line number in file
	views robots.Views
}

// line says where a line of Rules.file comes from.
type line struct {
	of  int    // its number in the original file or, if it was added, that of the line above
	add string // the line, if it was added
}

// Miss is a Disallow line that a request nearly met, and the line that would disallow it. Added
// below the first one, it changes the verdict only on paths that differ from those of
// that line in the same way.
type Miss struct {
	Line int
	Add  string
}

const (
	maxPattern = 1000 // octets of a pattern to compare
	minWord    = 4    // octets of the last text of a pattern that any text can follow, to compare its case
)

// New returns the Rules of a robots.txt. It returns nil if that is not in the dialect of RFC
// 9309. For nil Rules, Near finds nothing.
func New(f *robots.File) *Rules {
	if f.Dialect() != robots.RFC9309 {
		return nil
	}
	r := &Rules{lines: []line{{}}}
	var text strings.Builder
	for l := range f.Lines() {
		text.WriteString(l.Raw + "\n")
		r.lines = append(r.lines, line{of: l.Number})
		if l.Directive != robots.DirectiveDisallow || len(l.Value) > maxPattern {
			continue
		}
		for _, v := range variants(l.Value) {
			add := "Disallow: " + v
			text.WriteString(add + "\n")
			r.lines = append(r.lines, line{l.Number, add})
		}
	}
	r.file = robots.ParseText(text.String(), robots.WithMaxSize(text.Len()))
	return r
}

// variants returns patterns that match only what a pattern misses by a slash or `$` at its
// end, or by an escape. None matches the path `/`.
func variants(p string) (list []string) {
	base, anchored := strings.CutSuffix(p, "$")
	if !anchored {
		base = strings.TrimRight(base, "*")
	}
	folder, slash := strings.CutSuffix(base, "/")
	if strings.Trim(folder, "/*") != "" && !strings.HasSuffix(folder, "/") && !strings.HasSuffix(folder, "*") && !strings.Contains(base, "?") {
		if slash {
			list = append(list, folder+"$")
		}
		if slash && !anchored {
			list = append(list, folder+"?")
		}
		if anchored {
			list = append(list, base+"?")
		}
		if anchored && !slash {
			list = append(list, base+"/")
		}
	}
	if escaped := canonical.GoogleEscape(p); strings.Contains(escaped, "%") {
		list = append(list, strings.ReplaceAll(escaped, "%", "%25"))
		if once := strings.ReplaceAll(escaped, "%25", "%"); once != escaped {
			list = append(list, once)
		}
	}
	return list
}

// Near returns the Disallow line of a group that a target nearly meets. The group allows the
// target.
func (r *Rules) Near(g *robots.Group, target string) (m Miss, ok bool) {
	if r == nil || g == nil || len(target) > 4*maxPattern {
		return m, false
	}
	own := r.file.Star()
	if token := g.Token(); token != "*" {
		own = r.file.Named(token)
	}
	r.views.Reset(target, robots.ViewOptions{FoldCase: true})
	folded := own.MatchViews(&r.views)
	if folded.Allowed {
		return m, false
	}
	r.views.Reset(target, robots.ViewOptions{})
	verdict := own.MatchViews(&r.views)
	if !verdict.Allowed {
		l := r.lines[verdict.Rule().Line]
		return Miss{l.of, l.add}, l.add != ""
	}
	l := r.lines[folded.Rule().Line]
	if l.add != "" { // two differences
		return m, false
	}
	p := respell(folded.Rule().Pattern, canonical.OriginForm(target))
	return Miss{l.of, "Disallow: " + p}, p != ""
}

// respell returns a pattern in the case of a target. It returns "" if that is not certain:
// for patterns with escapes or other letters than those of ASCII, and if the target continues
// a word with which the pattern ends.
func respell(pattern, target string) string {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	if strings.ContainsFunc(pattern+target, func(r rune) bool { return r > '~' }) || strings.Contains(pattern, "%") || len(pattern) > maxPattern {
		return ""
	}
	lower, at := strings.ToLower(target), 0
	parts := strings.Split(pattern, "*")
	for i, part := range parts {
		skip := strings.Index(lower[at:], strings.ToLower(part))
		if i == len(parts)-1 && anchored {
			skip = strings.LastIndex(lower[at:], strings.ToLower(part))
		}
		if skip < 0 || i == 0 && skip > 0 {
			return ""
		}
		parts[i] = target[at+skip:][:len(part)]
		at += skip + len(part)
	}
	end := parts[len(parts)-1]
	switch {
	case anchored && at == len(target):
		return strings.Join(parts, "*") + "$"
	case anchored, end != "" && isWord(end[len(end)-1]) && (len(end) < minWord || at < len(target) && target[at] != '/' && target[at] != '?'):
		return ""
	}
	return strings.Join(parts, "*")
}

// isWord reports whether an octet can be in the middle of a word.
func isWord(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
