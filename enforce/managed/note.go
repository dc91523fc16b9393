package managed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NoteKind says what a Note is about.
type NoteKind string

// The kinds of notes.
const (
	// KeptGroup: crawlers whose purpose the policy names have a group of their
	// own in the site's file, and keep it.
	KeptGroup NoteKind = "kept-group"
	// ReplacedGroup: the site's group for crawlers that the policy names is
	// replaced.
	ReplacedGroup NoteKind = "replaced-group"
	// LongerAllow: an Allow of the site's file is at least as long as a path
	// that the policy denies, and wins.
	LongerAllow NoteKind = "longer-allow"
	// NoCrawlDelay: crawlers that document that they read no Crawl-delay are
	// given none.
	NoCrawlDelay NoteKind = "no-crawl-delay"
	// LongerDelay: the site's Crawl-delay is longer than the policy's, and
	// stays.
	LongerDelay NoteKind = "longer-delay"
	// SharedGroup: crawlers that obey the group of another crawler, so that the
	// policy can't give them rules of their own.
	SharedGroup NoteKind = "shared-group"
	// WithoutToken: crawlers whose token can't stand on a User-agent line.
	WithoutToken NoteKind = "without-token"
	// FallbackGroup: crawlers outside the policy that would fall back to a
	// group of the policy. They got a group of their own, so that nothing
	// changes for them.
	FallbackGroup NoteKind = "fallback-group"
	// KeptPreference: the site's own Content-Signal or Content-Usage for a key
	// says something else, and stays.
	KeptPreference NoteKind = "kept-preference"
)

// Note is information about a merge for the operator.
type Note struct {
	Kind     NoteKind `json:"kind"`
	Crawlers []string `json:"crawlers"`
	SiteLine int      `json:"site_line,omitempty"` // of the site's file
	Line     int      `json:"line,omitempty"`      // of the configuration
	Detail   string   `json:"detail,omitempty"`    // a rule, a token or a key
}

var noteTexts = map[NoteKind]string{
	KeptGroup:      "left as robots.txt has them: a group of their own",
	ReplacedGroup:  "the policy's group replaces the one in robots.txt",
	LongerAllow:    "a longer Allow in robots.txt overrides the policy",
	NoCrawlDelay:   "no delay: their operators document that they read no Crawl-delay",
	LongerDelay:    "the longer Crawl-delay in robots.txt stays",
	SharedGroup:    "they obey the group of another crawler",
	WithoutToken:   "their token can't stand on a User-agent line",
	FallbackGroup:  "a group of their own, so that nothing changes for them",
	KeptPreference: "robots.txt says otherwise, and stays",
}

// Text says what the kind of the note means.
func (n Note) Text() string { return noteTexts[n.Kind] }

// String returns the note as a line of text.
func (n Note) String() string {
	var b strings.Builder
	b.WriteString(listed(n.Crawlers, 8) + ": " + noteTexts[n.Kind])
	if n.Detail != "" {
		b.WriteString(": " + n.Detail)
	}
	if n.SiteLine > 0 {
		fmt.Fprintf(&b, " (line %d of robots.txt)", n.SiteLine)
	}
	return b.String()
}

// listed writes at most limit names.
func listed(names []string, limit int) string {
	if len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// noted are notes with those that differ only by crawler put together.
type noted struct{ list []Note }

func (n *noted) add(kind NoteKind, crawler, detail string, siteLine, line int) {
	for i := range n.list {
		if o := &n.list[i]; o.Kind == kind && o.Detail == detail && o.SiteLine == siteLine && o.Line == line {
			if !slices.Contains(o.Crawlers, crawler) {
				o.Crawlers = append(o.Crawlers, crawler)
			}
			return
		}
	}
	n.list = append(n.list, Note{Kind: kind, Crawlers: []string{crawler}, Detail: detail, SiteLine: siteLine, Line: line})
}

func (n *noted) sorted() []Note {
	slices.SortStableFunc(n.list, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.SiteLine, b.SiteLine))
	})
	return n.list
}
