package robots

import (
	"errors"
	"fmt"
	"strings"
)

// Builder writes a robots.txt file that every parser reads the same way: one
// rule per line, a blank line between groups, at least one rule in each group.
// The zero value is ready to use. The methods return the Builder, so that calls
// can be chained; Text returns the first error. A Builder is not safe for
// concurrent use.
type Builder struct {
	text  strings.Builder
	group bool // there are User-agent lines
	ruled bool // and a rule below them
	err   error
}

// Group begins a group for the crawlers with the given product tokens. "*"
// stands for all crawlers that no other group names.
func (b *Builder) Group(tokens ...string) *Builder {
	b.endGroup()
	if len(tokens) == 0 {
		b.fail("a group needs at least one product token")
	}
	for _, t := range tokens {
		if t == "" || ProductToken(t) != t {
			b.fail("%q is not a product token", t)
			continue
		}
		b.line(DirectiveUserAgent.String(), t)
	}
	b.group = true
	return b
}

// closeGroup adds an empty rule to the last group if it has no rule: otherwise
// parsers would merge the group with the next one.
func (b *Builder) closeGroup() {
	if b.group && !b.ruled {
		b.line(DirectiveDisallow.String(), "")
		b.ruled = true
	}
}

// endGroup writes the blank line that separates the last group from what
// follows.
func (b *Builder) endGroup() {
	b.closeGroup()
	if b.text.Len() > 0 {
		b.text.WriteByte('\n')
	}
	b.group, b.ruled = false, false
}

// Allow adds a rule to the group. The pattern must start with `/` or `*`.
// Characters that cannot stand in a URL are written as escapes (%20, %23).
func (b *Builder) Allow(pattern string) *Builder { return b.rule(DirectiveAllow, pattern) }

// Disallow adds a rule to the group, as Allow does. The empty pattern
// disallows nothing.
func (b *Builder) Disallow(pattern string) *Builder { return b.rule(DirectiveDisallow, pattern) }

func (b *Builder) rule(d Directive, pattern string) *Builder {
	switch {
	case pattern == "" && d == DirectiveDisallow:
	case pattern == "" || pattern[0] != '/' && pattern[0] != '*':
		return b.fail("pattern %q starts with neither / nor *", pattern)
	case strings.ContainsFunc(pattern, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }):
		return b.fail("pattern %q has characters that must be percent-encoded", pattern)
	}
	b.member(d.String(), pattern)
	b.ruled = b.group
	return b
}

// CrawlDelay adds a Crawl-delay to the group.
func (b *Builder) CrawlDelay(c CrawlDelay) *Builder {
	if c.Delay < 0 {
		return b.fail("a Crawl-delay of %v", c.Delay)
	}
	return b.member(DirectiveCrawlDelay.String(), c.String())
}

// RequestRate adds a Request-rate to the group.
func (b *Builder) RequestRate(r RequestRate) *Builder {
	if again, ok := parseRequestRate(r.String()); !ok || again.Requests != r.Requests || again.Per != r.Per {
		return b.fail("a Request-rate of %d in %v can't be written", r.Requests, r.Per)
	}
	return b.member(DirectiveRequestRate.String(), r.String())
}

// VisitTime adds a Visit-time to the group.
func (b *Builder) VisitTime(w Window) *Builder {
	if _, ok := parseWindow(w.String()); !ok {
		return b.fail("a Visit-time of %v", w)
	}
	return b.member(DirectiveVisitTime.String(), w.String())
}

// Field adds another line to the group, such as Content-Signal. It is an error
// if any parser reads the key as User-agent, Allow or Disallow.
func (b *Builder) Field(key, value string) *Builder {
	if key == "" || strings.ContainsAny(key, ":# \t") || isRuleKey(key) || !b.fits(key) || !b.fits(value) {
		return b.fail("%q: %q is not a valid line of a group", key, value)
	}
	return b.member(key, value)
}

func isRuleKey(key string) bool {
	switch googleDirective(key) {
	case DirectiveUserAgent, DirectiveAllow, DirectiveDisallow:
		return true
	}
	return false
}

// Sitemap adds the address of a sitemap. It applies to all crawlers and ends
// the current group.
func (b *Builder) Sitemap(url string) *Builder {
	if url == "" || !b.fits(url) {
		return b.fail("%q is not a valid address of a sitemap", url)
	}
	if b.group {
		b.endGroup()
	}
	b.line(DirectiveSitemap.String(), url)
	return b
}

// Comment adds a comment of one or more lines.
func (b *Builder) Comment(text string) *Builder {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return b.fail("comment %q has control characters", l)
		}
		b.text.WriteString(strings.TrimRight("# "+l, " ") + "\n")
	}
	return b
}

// fits reports whether a parser reads the value back unchanged.
func (b *Builder) fits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '#' }) && strings.TrimSpace(s) == s
}

func (b *Builder) member(key, value string) *Builder {
	if !b.group {
		return b.fail("%s: %s is before any group", key, value)
	}
	b.line(key, value)
	return b
}

func (b *Builder) line(key, value string) {
	b.text.WriteString(strings.TrimRight(key+": "+value, " ") + "\n")
}

func (b *Builder) fail(format string, args ...any) *Builder {
	if b.err == nil {
		b.err = fmt.Errorf("writing robots.txt: "+format, args...)
	}
	return b
}

// Text returns the file, or the first error: a value that a parser would not
// read back unchanged, a line before any group, or a file larger than MaxSize.
func (b *Builder) Text() (string, error) {
	b.closeGroup()
	if b.err == nil && b.text.Len() > MaxSize {
		b.err = errors.New("writing robots.txt: the file is larger than crawlers read")
	}
	if b.err != nil {
		return "", b.err
	}
	return b.text.String(), nil
}
