package managed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// The comments that the lines of a policy stand between, and the one that
// stands before a line of the site which they replace.
const (
	beginMarker    = "# BEGIN lines made from a policy: changes to them are lost"
	endMarker      = "# END lines made from a policy"
	replacedMarker = "# replaced by a policy: "
)

const byteOrderMark = "\xef\xbb\xbf"

// site is a site's own file: without lines that an earlier merge added, and
// with those that it replaced.
type site struct {
	lines  []siteLine
	ending string // "\n", "\r\n" or "\r", whichever most lines have
}

// siteLine is a line of a site's file, without its ending.
type siteLine struct {
	text, ending string
	number       int // in the file as it was read
}

// readSite reads a site's file.
func readSite(text []byte) (*site, error) {
	s := &site{ending: "\n"}
	begin, sections := 0, 0
	endings := map[string]int{}
	for l := range robots.Parse(text).Lines() {
		mark := strings.TrimSpace(strings.TrimPrefix(l.Raw, byteOrderMark))
		switch {
		case mark == beginMarker && begin > 0:
			return nil, fmt.Errorf("line %d of robots.txt begins lines of a policy within those of line %d: delete one of the two", l.Number, begin)
		case mark == beginMarker:
			begin, sections = l.Number, sections+1
		case mark == endMarker && begin == 0:
			return nil, fmt.Errorf("line %d of robots.txt ends lines of a policy that do not begin: delete them", l.Number)
		case mark == endMarker:
			begin = 0
		case begin == 0:
			s.lines = append(s.lines, siteLine{l.Raw, l.Ending, l.Number})
			if endings[l.Ending]++; l.Ending != "" && endings[l.Ending] > endings[s.ending] {
				s.ending = l.Ending
			}
		}
	}
	if begin > 0 {
		return nil, fmt.Errorf("line %d of robots.txt begins lines of a policy that do not end: delete them", begin)
	}
	if sections > 0 {
		s.restore()
	}
	for _, l := range s.lines {
		if strings.Contains(l.text, replacedMarker) {
			return nil, fmt.Errorf("line %d of robots.txt is one that a policy replaced, but the lines of the policy are gone: delete the comment or restore the line", l.number)
		}
	}
	return s, nil
}

// restore takes the lines back that an earlier merge replaced.
func (s *site) restore() {
	for i := range s.lines {
		l := &s.lines[i]
		if _, old, ok := strings.Cut(l.text, replacedMarker); ok {
			if strings.HasPrefix(l.text, byteOrderMark) {
				old = byteOrderMark + old
			}
			l.text = old
		}
	}
}

// text returns the file.
func (s *site) text() []byte {
	var b strings.Builder
	for _, l := range s.lines {
		b.WriteString(l.text + l.ending)
	}
	return []byte(b.String())
}

// replace returns the file with all that it says to some crawlers alone as
// comments. A group that it has for others too only loses their names.
func (s *site) replace(d robots.Dialect, removed func(token string) bool) *site {
	out := &site{lines: append([]siteLine(nil), s.lines...), ending: s.ending}
	var o owners
	i := 0
	for l := range robots.Parse(s.text(), robots.WithDialect(d), robots.WithMaxSize(1<<30)).Lines() {
		if i == len(out.lines) {
			break
		}
		line := &out.lines[i]
		i++
		bom := ""
		if strings.HasPrefix(line.text, byteOrderMark) {
			bom = byteOrderMark
		}
		if kept, ok := o.read(&l, d, removed); !ok {
			line.text = bom + kept + replacedMarker + line.text[len(bom):]
		}
	}
	return out
}

// owners follows the lines of a file, to tell whom each one speaks to. A rule
// belongs to the User-agent lines above it, whatever other lines stand
// between them; another line only to those right above it.
type owners struct {
	open, inRun   bool // User-agent lines that follow join the group, the run
	others, named bool // the group has tokens that stay; any token
	runOthers     bool
	runNamed      bool
}

// read reports whether a line stays. Of one that does not, kept is what takes
// its place: a User-agent line with the tokens that stay.
func (o *owners) read(l *robots.Line, d robots.Dialect, removed func(string) bool) (kept string, stays bool) {
	switch l.Directive {
	case robots.DirectiveNone, robots.DirectiveSitemap, robots.DirectiveHost, robots.DirectiveLicense, robots.DirectiveCleanParam:
		return "", true
	case robots.DirectiveUserAgent:
		return o.userAgent(l, d, removed)
	case robots.DirectiveAllow, robots.DirectiveDisallow:
		o.open, o.inRun = false, false
		return "", o.others || !o.named
	}
	if l.Directive != robots.DirectiveUnknown {
		o.inRun = false
	}
	return "", o.runOthers || !o.runNamed
}

func (o *owners) userAgent(l *robots.Line, d robots.Dialect, removed func(string) bool) (kept string, stays bool) {
	if !o.open {
		o.open, o.inRun, o.others, o.named = true, false, false, false
	}
	if !o.inRun {
		o.inRun, o.runOthers, o.runNamed = true, false, false
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
	if len(values) > len(stay) {
		o.named, o.runNamed = true, true
	}
	if len(stay) > 0 {
		o.others, o.runOthers = true, true
	}
	switch {
	case len(stay) == len(values):
		return "", true
	case len(stay) == 0:
		return "", false
	}
	return "User-agent: " + strings.Join(stay, " ") + " ", false
}

// open reports whether the file ends in User-agent lines that those after them
// would join.
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

var errTooLarge = errors.New("robots.txt with the lines of the policy would be larger than the 500 KiB that crawlers read")
