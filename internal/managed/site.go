package managed

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// The comments around the lines of a policy, and the comment before a line of
// the site that they replace.
const (
	beginMarker    = "# BEGIN lines made from a policy: changes to them are lost"
	endMarker      = "# END lines made from a policy"
	replacedMarker = "# replaced by a policy: "
)

// site is a site's own file, with the lines of a policy or without.
type site struct {
	lines  []entry
	ending string // "\n", "\r\n" or "\r": that of the first line
}

// readSite reads a site's file.
func readSite(text []byte) *site {
	s := new(site)
	for l := range robots.Parse(text).Lines() {
		s.lines = append(s.lines, entry{l.Raw, l.Ending, origin{judge.FileLayer, l.Number}})
		s.ending = cmp.Or(s.ending, l.Ending)
	}
	s.ending = cmp.Or(s.ending, "\n")
	return s
}

// text returns the file.
func (s *site) text() (text []byte) {
	for _, l := range s.lines {
		text = append(append(text, l.text...), l.ending...)
	}
	return text
}

// add adds lines.
func (s *site) add(lines ...entry) {
	for _, l := range lines {
		l.ending = s.ending
		s.lines = append(s.lines, l)
	}
}

// replace returns the file without the groups of some crawlers: their lines
// become comments. A group that has other crawlers too only loses the removed
// tokens.
func (s *site) replace(d robots.Dialect, removed func(token string) bool) *site {
	out := &site{lines: slices.Clone(s.lines), ending: s.ending}
	var o owners
	for l := range robots.Parse(s.text(), robots.WithDialect(d), robots.WithMaxSize(1<<30)).Lines() {
		if l.Number > len(out.lines) {
			break
		}
		if kept, ok := o.read(&l, d, removed); !ok {
			text := &out.lines[l.Number-1].text
			old, marked := strings.CutPrefix(*text, canonical.ByteOrderMark)
			if *text = kept + replacedMarker + old; marked {
				*text = canonical.ByteOrderMark + *text
			}
		}
	}
	return out
}

// owners finds the User-agent lines that each line of a file belongs to. A rule
// belongs to the User-agent lines of its group, even if other lines are between
// them. Any other line belongs only to the User-agent lines directly above it,
// which are called a run here.
type owners struct {
	open, inRun bool // another User-agent line would join the group; would join the run
	group, run  tokens
}

// tokens says whether there are tokens that stay, and tokens that are removed.
type tokens struct{ stay, removed bool }

// keep reports whether lines that belong to the tokens stay.
func (t tokens) keep() bool { return t.stay || !t.removed }

// read reports whether a line stays. If it does not, kept takes its place: a
// User-agent line with the tokens that stay, or "".
func (o *owners) read(l *robots.Line, d robots.Dialect, removed func(string) bool) (kept string, stays bool) {
	switch l.Directive {
	case robots.DirectiveNone, robots.DirectiveSitemap, robots.DirectiveHost, robots.DirectiveLicense, robots.DirectiveCleanParam:
		return "", true
	case robots.DirectiveUserAgent:
		return o.userAgent(l, d, removed)
	case robots.DirectiveAllow, robots.DirectiveDisallow:
		o.open, o.inRun = false, false
		return "", o.group.keep()
	}
	if l.Directive != robots.DirectiveUnknown {
		o.inRun = false
	}
	return "", o.run.keep()
}

func (o *owners) userAgent(l *robots.Line, d robots.Dialect, removed func(string) bool) (kept string, stays bool) {
	if !o.open {
		*o = owners{open: true}
	}
	if !o.inRun {
		o.inRun, o.run = true, tokens{}
	}
	values := []string{l.Value}
	if d == robots.Kollar1996 {
		values = strings.Fields(l.Value)
	}
	var stay []string
	for _, v := range values {
		if token := robots.ProductToken(v); token == "" || !removed(token) {
			stay = append(stay, v)
		}
	}
	for _, t := range []*tokens{&o.group, &o.run} {
		t.stay = t.stay || len(stay) > 0
		t.removed = t.removed || len(stay) < len(values)
	}
	switch {
	case len(stay) == len(values):
		return "", true
	case len(stay) == 0:
		return "", false
	}
	return "User-agent: " + strings.Join(stay, " ") + " ", false
}

// open reports whether the file ends with User-agent lines that the next
// User-agent lines would join.
func (s *site) open(d robots.Dialect) bool {
	open := false
	for l := range robots.Parse(s.text(), robots.WithDialect(d)).Lines() {
		switch l.Directive {
		case robots.DirectiveUserAgent:
			open = true
		case robots.DirectiveAllow, robots.DirectiveDisallow:
			open = false
		}
	}
	return open
}

var (
	errTooLarge = errors.New("robots.txt with the lines of the policy would be larger than 500 KiB, the limit of what crawlers read")
	errTooMany  = errors.New("the groups of robots.txt have more than a million rules together: name each crawler in one place")
)
