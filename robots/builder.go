package robots

import (
	"errors"
	"fmt"
	"strings"
)

// Builder writes a robots.txt file that all parsers read in the same way: it
// has one rule per line, a blank line between groups, and at least one rule in
// each group. To a group without rules, it adds an empty Disallow, which
// disallows nothing. The zero value is ready to use. The methods return the
// Builder, so that calls can be chained; Text returns the first error of any of
// them. A Builder is not safe for concurrent use.
//
// Allow, Disallow, CrawlDelay, RequestRate, VisitTime and Field add a line to
// the current group. If there is none, they fail: before the first Group, and
// after Sitemap.
type Builder struct {
	text  strings.Builder
	group bool // a group is open: it has User-agent lines
	ruled bool // the open group has a rule
	err   error
}

// Group starts a group for the crawlers with the given product tokens, at least
// one, without versions. "*" means all crawlers that no other group names.
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

// closeGroup adds an empty rule to the open group if it has no rule. Without
// it, parsers would merge the group with the next one.
func (b *Builder) closeGroup() {
	if b.group && !b.ruled {
		b.line(DirectiveDisallow.String(), "")
		b.ruled = true
	}
}

// endGroup closes the open group and writes the blank line after it.
func (b *Builder) endGroup() {
	b.closeGroup()
	if b.text.Len() > 0 {
		b.text.WriteByte('\n')
	}
	b.group, b.ruled = false, false
}

// Allow adds an Allow rule to the group. The pattern must start with `/` or
// `*`, and must contain only characters that a URL may contain: write other
// characters as escapes (%20, %23).
func (b *Builder) Allow(pattern string) *Builder { return b.rule(DirectiveAllow, pattern) }

// Disallow adds a Disallow rule to the group. The pattern has the form that
// Allow describes, or is empty. The empty pattern disallows nothing.
func (b *Builder) Disallow(pattern string) *Builder { return b.rule(DirectiveDisallow, pattern) }

func (b *Builder) rule(d Directive, pattern string) *Builder {
	switch {
	case pattern == "" && d == DirectiveDisallow:
	case pattern == "" || pattern[0] != '/' && pattern[0] != '*':
		return b.fail("pattern %q must start with / or *", pattern)
	case strings.ContainsFunc(pattern, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }):
		return b.fail("pattern %q has characters that must be percent-encoded", pattern)
	}
	b.member(d.String(), pattern)
	b.ruled = b.group
	return b
}

// CrawlDelay adds a Crawl-delay to the group. The delay must not be negative.
func (b *Builder) CrawlDelay(c CrawlDelay) *Builder {
	if c.Delay < 0 {
		return b.fail("a Crawl-delay must not be negative, found %v", c.Delay)
	}
	return b.member(DirectiveCrawlDelay.String(), c.String())
}

// RequestRate adds a Request-rate to the group. It must be one that the parser
// reads back: at least one request, in a positive number of whole seconds, with a
// valid Window.
func (b *Builder) RequestRate(r RequestRate) *Builder {
	if again, ok := parseRequestRate(r.String()); !ok || again.Requests != r.Requests || again.Per != r.Per {
		return b.fail("a Request-rate of %d requests in %v can't be written: both numbers must be from 1 to 1000000000, the time in whole seconds", r.Requests, r.Per)
	}
	if !b.window(r.Window) {
		return b
	}
	return b.member(DirectiveRequestRate.String(), r.String())
}

// VisitTime adds a Visit-time to the group. The Window must be valid.
func (b *Builder) VisitTime(w Window) *Builder {
	if !b.window(w) {
		return b
	}
	return b.member(DirectiveVisitTime.String(), w.String())
}

// window reports whether both ends of a window are minutes of a day.
func (b *Builder) window(w Window) bool {
	if min(w.From, w.To) < 0 || max(w.From, w.To) >= minutesPerDay {
		b.fail("a window from minute %d to %d can't be written: both must be from 0 to %d", w.From, w.To, minutesPerDay-1)
		return false
	}
	return true
}

// Field adds another line to the group, such as Content-Signal. The key must
// not be one that some parser reads as User-agent, Allow or Disallow.
func (b *Builder) Field(key, value string) *Builder {
	if key == "" || strings.ContainsAny(key, ":# \t") || isRuleKey(key) || !b.fits(key) || !b.fits(value) {
		return b.fail("the line %q: %q is not valid in a group", key, value)
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

// Sitemap adds the URL of a sitemap, which applies to all crawlers. It may be
// called before the first Group. It ends the current group.
func (b *Builder) Sitemap(url string) *Builder {
	if url == "" || !b.fits(url) {
		return b.fail("%q is not a valid URL of a sitemap", url)
	}
	if b.group {
		b.endGroup()
	}
	b.line(DirectiveSitemap.String(), url)
	return b
}

// Comment adds a comment of one or more lines. It may be called anywhere.
func (b *Builder) Comment(text string) *Builder {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.ContainsFunc(l, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return b.fail("comment %q has control characters", l)
		}
		b.text.WriteString(strings.TrimRight("# "+l, " ") + "\n")
	}
	return b
}

// fits reports whether parsers read the text back unchanged as a key or a
// value.
func (b *Builder) fits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '#' }) && strings.TrimSpace(s) == s
}

func (b *Builder) member(key, value string) *Builder {
	if !b.group {
		return b.fail("the line %s: %s belongs to no group; call Group first", key, value)
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

// Text returns the file, or the first error. Errors are: an argument that its
// method does not allow or that parsers would not read back unchanged, a Group
// without tokens, a line that needs a group where there is none, and a file
// larger than MaxSize.
func (b *Builder) Text() (string, error) {
	b.closeGroup()
	if b.err == nil && b.text.Len() > MaxSize {
		b.err = errors.New("writing robots.txt: the file is larger than 500 KiB; crawlers may ignore the rest")
	}
	if b.err != nil {
		return "", b.err
	}
	return b.text.String(), nil
}
