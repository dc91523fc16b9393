package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// NoteKind is the kind of a Note.
type NoteKind struct{ name, text string }

// String returns the name of the kind, such as "kept-group".
func (k NoteKind) String() string { return k.name }

// MarshalText returns the same as String.
func (k NoteKind) MarshalText() ([]byte, error) { return []byte(k.name), nil }

// The kinds of notes.
var (
	// KeptGroup means that the site's file has an own group for crawlers whose
	// purpose the policy names. That group stays.
	KeptGroup = NoteKind{"kept-group", "own group in robots.txt kept"}
	// ReplacedGroup means that a group of the policy replaces the site's group
	// for crawlers that the policy names.
	ReplacedGroup = NoteKind{"replaced-group", "the policy's group replaces the one in robots.txt"}
	// LongerAllow means that an Allow of the site's file overrides a path that
	// the policy denies, because it is at least as long.
	LongerAllow = NoteKind{"longer-allow", "a longer Allow in robots.txt overrides the policy"}
	// SharedGroup means that crawlers obey the group of another crawler, so
	// that the policy can't give them their own rules.
	SharedGroup = NoteKind{"shared-group", "the policy does not apply to them, because they obey the group of another crawler"}
	// AlsoApplies means that the policy also applies to crawlers that it does
	// not mention, because they obey the group of a crawler that it does.
	AlsoApplies = NoteKind{"also-applies", "the policy applies to them too, because they obey the group of another crawler"}
	// WithoutToken means that a User-agent line can't name the crawlers,
	// because of the form of their token.
	WithoutToken = NoteKind{"without-token", "no User-agent line can name this token"}
	// FallbackGroup means that crawlers outside the policy would fall back to a
	// group of the policy. They got their own groups, so that nothing changes
	// for them.
	FallbackGroup = NoteKind{"fallback-group", "own group added, so that nothing changes"}
	// KeptSearch means that a deny of a purpose does not apply to crawlers of
	// that purpose, because they also crawl for a search engine.
	KeptSearch = NoteKind{"kept-search", "they crawl for search too, so this applies to them only with their names"}
	// KeptPreference means that the site's own Content-Signal or Content-Usage
	// has another value for a key of the policy. The site's value stays.
	KeptPreference = NoteKind{"kept-preference", "robots.txt has another value, which stays"}
)

// Note is information for the site's operator about a merge.
type Note struct {
	Kind     NoteKind `json:"kind"`
	Crawlers []string `json:"crawlers"`            // names or tokens
	SiteLine int      `json:"site_line,omitempty"` // line of the site's file; 0 if none
	Line     int      `json:"line,omitempty"`      // line of the configuration; 0 if none
	Detail   string   `json:"detail,omitempty"`    // a rule, a token or a key; "" if none
}

// Text returns a phrase that says what the kind of the note means.
func (n Note) Text() string { return n.Kind.text }

// String returns the note as a line of text, with at most eight crawlers.
func (n Note) String() string {
	text := words.List(n.Crawlers, 8) + ": " + n.Kind.text
	if n.Detail != "" {
		text += ": " + n.Detail
	}
	if n.SiteLine > 0 {
		text += fmt.Sprintf(" (line %d of robots.txt)", n.SiteLine)
	}
	return text
}

// noteList is a list of notes. Notes that differ only in the crawler are
// joined.
type noteList []Note

func (n *noteList) add(kind NoteKind, crawler, detail string, siteLine, line int) {
	for i := range *n {
		if o := &(*n)[i]; o.Kind == kind && o.Detail == detail && o.SiteLine == siteLine && o.Line == line {
			if !slices.Contains(o.Crawlers, crawler) {
				o.Crawlers = append(o.Crawlers, crawler)
			}
			return
		}
	}
	*n = append(*n, Note{Kind: kind, Crawlers: []string{crawler}, Detail: detail, SiteLine: siteLine, Line: line})
}

// maxComparedRules limits how many rules of the site are compared with the
// policy.
const maxComparedRules = 2000

// noteLongerAllows adds a note for each Allow of the site that overrides a path
// that the policy denies.
func (m *merger) noteLongerAllows(after *robots.File) {
	budget := maxComparedRules
	for _, t := range m.list {
		if t.terms.all {
			continue
		}
		g := after.Named(first(t.crawler))
		for _, r := range t.base.Rules() {
			if budget--; budget < 0 {
				return
			}
			if !r.Allow {
				continue
			}
			path := example(r.Pattern)
			if v := g.Match(path); !v.Allowed || v.Rule().Pattern != r.Pattern {
				continue
			}
			for _, p := range t.terms.paths {
				if denies(p.pattern, path, m.settings.Dialect) {
					m.notes.add(LongerAllow, t.crawler.Name, r.String(), r.Line, p.line)
					break
				}
			}
		}
	}
}

// example returns a path that a pattern matches.
func example(pattern string) string {
	return "/" + strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", ""), "/")
}

// denies reports whether a Disallow rule with the pattern denies a path.
func denies(pattern, path string, d robots.Dialect) bool {
	f := robots.Parse([]byte("User-agent: *\nDisallow: "+pattern+"\n"), robots.WithDialect(d))
	return !f.Star().Match(path).Allowed
}
