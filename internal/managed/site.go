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
	blocks []block
	open   bool // the next User-agent line would join the last block
}

// block has User-agent lines, and the lines that belong to them.
type block struct {
	tokens []string // product tokens
	lines  []int    // indices of site.lines
}

// readSite reads a site's file.
func readSite(text []byte, d robots.Dialect) *site {
	s := new(site)
	for l := range robots.Parse(text, robots.WithDialect(d)).Lines() {
		s.lines = append(s.lines, entry{l.Raw, l.Ending, origin{judge.FileLayer, l.Number}})
		s.ending = cmp.Or(s.ending, l.Ending)
		switch l.Directive {
		case robots.DirectiveNone, robots.DirectiveSitemap, robots.DirectiveHost, robots.DirectiveLicense, robots.DirectiveCleanParam:
			continue
		case robots.DirectiveUserAgent:
			if !s.open {
				s.blocks, s.open = append(s.blocks, block{}), true
			}
		case robots.DirectiveAllow, robots.DirectiveDisallow:
			s.open = false
		}
		if len(s.blocks) == 0 {
			continue
		}
		b := &s.blocks[len(s.blocks)-1]
		b.lines = append(b.lines, len(s.lines)-1)
		if l.Directive == robots.DirectiveUserAgent {
			b.tokens = append(b.tokens, tokensOf(l.Value, d)...)
		}
	}
	s.ending = cmp.Or(s.ending, "\n")
	return s
}

// tokensOf returns the product tokens of a User-agent line.
func tokensOf(value string, d robots.Dialect) (tokens []string) {
	values := []string{value}
	if d == robots.Kollar1996 {
		values = strings.Fields(value)
	}
	for _, v := range values {
		if token := robots.ProductToken(v); token != "" {
			tokens = append(tokens, token)
		}
	}
	return tokens
}

// replace turns the blocks that name removed tokens into comments. It returns the other tokens
// of these blocks.
func (s *site) replace(removed func(token string) bool) (others []string) {
	for i, b := range s.blocks {
		if !slices.ContainsFunc(b.tokens, removed) {
			continue
		}
		others = append(others, slices.DeleteFunc(b.tokens, removed)...)
		for _, at := range b.lines {
			text := &s.lines[at].text
			old, marked := strings.CutPrefix(*text, canonical.ByteOrderMark)
			if *text = replacedMarker + old; marked {
				*text = canonical.ByteOrderMark + *text
			}
		}
		s.open = s.open && i < len(s.blocks)-1
	}
	return others
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

var (
	errTooLarge = errors.New("robots.txt with the lines of the policy would be larger than 500 KiB, the limit of what crawlers read")
	errTooMany  = errors.New("the groups of robots.txt have more than a million rules together: name each crawler in one place")
)
