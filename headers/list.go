package headers

import (
	"fmt"
	"strings"
)

// item is one element of an X-Robots-Tag list.
type item struct {
	crawler string // name of the crawler that it applies to, as written; "": all
	name    string
	value   string
	raw     string // as written, without the crawler
}

// list reads the elements of a value one by one. It does not split a date at
// its comma. A crawler's name applies to all elements up to the next name.
type list struct {
	rest    string
	crawler string
	blanks  bool // blanks separate elements, as commas do
	count   int
}

// maxItems bounds the elements that are read of one value; the rest is ignored.
// All known directives for ten crawlers are fewer.
const maxItems = 256

// next returns the next element, or false at the end. It skips empty elements,
// which RFC 9110, section 5.6.1.2 allows.
func (l *list) next() (item, bool) {
	for {
		l.rest = strings.TrimLeft(l.rest, ", \t")
		if l.rest == "" || l.count == maxItems {
			return item{}, false
		}
		end := strings.IndexByte(l.rest, ',')
		if end < 0 {
			end = len(l.rest)
		}
		name, value, colon := strings.Cut(l.rest[:end], ":")
		name = trim(name)
		if first, after, blank := strings.Cut(name, " "); l.blanks && blank &&
			(!colon || lookup(first) != nil || lookup(trim(after)) != nil) {
			return l.take(first, "", len(first)), true
		}
		if !colon {
			return l.take(name, "", end), true
		}
		w := lookup(name)
		switch {
		case w == nil && isCrawler(name):
			l.crawler = name
			l.rest = l.rest[strings.IndexByte(l.rest, ':')+1:]
			l.count++
			continue
		case w != nil && w.kind == dateValue:
			value, end = l.date()
		case w != nil && l.blanks:
			start := strings.IndexByte(l.rest, ':') + 1
			start += len(l.rest[start:end]) - len(strings.TrimLeft(l.rest[start:end], " \t"))
			if blank := strings.IndexAny(l.rest[start:end], " \t"); blank >= 0 {
				end = start + blank
			}
			value = l.rest[start:end]
		}
		return l.take(name, trim(value), end), true
	}
}

// take returns the element in the first end octets.
func (l *list) take(name, value string, end int) item {
	l.count++
	it := item{l.crawler, name, value, trim(l.rest[:end])}
	l.rest = l.rest[end:]
	return it
}

// date returns the value of unavailable_after and the end of its element. The
// value is the longest text that is a valid date.
func (l *list) date() (string, int) {
	start := strings.IndexByte(l.rest, ':') + 1
	tail := l.rest[start:]
	date, first := -1, -1
	for i, commas := 0, 0; i <= min(len(tail), 2*longestDate) && commas < 2; i++ {
		comma := i == len(tail) || tail[i] == ','
		if !comma && !(l.blanks && tail[i] == ' ') {
			continue
		}
		value := trim(tail[:i])
		if comma {
			commas++
			if first < 0 && !isWeekday(value) {
				first = i
			}
		}
		if _, _, ok := parseDate(value); ok {
			date = i
		}
	}
	switch {
	case date >= 0:
	case first >= 0:
		date = first
	default:
		date = len(tail)
		if i := strings.IndexByte(tail, ','); i >= 0 {
			date = i
		}
	}
	return tail[:date], start + date
}

// isCrawler reports whether s can be the name of a crawler: a product token
// (RFC 9309, section 2.2.1) with the digits, dots and blanks that real ones
// have.
func isCrawler(s string) bool {
	if s == "" || len(s) > maxCrawler || !isLetterOrDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetterOrDigit(s[i]) && strings.IndexByte("-_. ", s[i]) < 0 {
			return false
		}
	}
	for word := range strings.SplitSeq(s, " ") { // one blank at a time, and no list without its commas
		if word == "" || lookup(word) != nil || word == "only" {
			return false
		}
	}
	return true
}

// maxCrawler bounds the length of a crawler's name.
const maxCrawler = 128

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

func trim(s string) string { return strings.Trim(s, " \t") }

// ParseDirectives reads a list such as "noindex, max-snippet:50", the content
// of a robots meta tag or an X-Robots-Tag value without a crawler's name. It
// ignores the case of names and values. A date may have RFC 822, RFC 850 or ISO
// 8601 form, also with a comma in it.
//
// Use it for text that an operator writes: it returns an error for an unknown
// directive, a wrong value or a contradiction. The error says what to write
// instead.
func ParseDirectives(s string) (Directives, error) {
	return parseList(&list{rest: s})
}

func parseList(l *list) (Directives, error) {
	var d Directives
	for {
		it, more := l.next()
		if !more {
			break
		}
		if it.crawler != "" {
			return Directives{}, misplacedCrawler(it.crawler)
		}
		one, err := it.directive()
		if err != nil {
			return Directives{}, err
		}
		if again := d.set & one.set & valued; again != 0 && d.keep(again) != one {
			return Directives{}, fmt.Errorf("%s is given twice with different values; keep one", again.names())
		}
		d = d.join(one)
	}
	return d, d.Validate()
}

// directive parses the element strictly.
func (it item) directive() (Directives, error) {
	w := lookup(it.name)
	if w == nil {
		return Directives{}, unknownDirective(it.name)
	}
	return w.value(it.value)
}

// misplacedCrawler returns the error for a crawler's name where a directive is
// expected.
func misplacedCrawler(name string) error {
	if nearValued(name) != "" {
		return unknownDirective(name)
	}
	return fmt.Errorf("crawler %q in the middle of the directives; write the directives for it on a line of their own", clip(name))
}

// nearValued returns the directive with a value that a misspelt name probably
// means. Only crawlers and such directives can be before a colon.
func nearValued(name string) string {
	return nearest(name, func(yield func(string) bool) {
		for i := range vocabulary {
			if vocabulary[i].kind != noValue && !yield(vocabulary[i].name) {
				return
			}
		}
	})
}

// ReadDirectives reads a list as a crawler does: it returns no error, ignores
// unknown directives, and where directives contradict each other keeps the more
// restrictive one. Use it for text from other sources.
func ReadDirectives(s string) Directives { return readDirectives(s).settle() }

// readDirectives is ReadDirectives for a part of a list.
func readDirectives(s string) Directives {
	var d Directives
	l := list{rest: strings.Map(breakToBlank, s)}
	for {
		it, more := l.next()
		if !more {
			return d
		}
		if it.crawler != "" {
			continue
		}
		if one, err := it.directive(); err == nil {
			d = d.join(one)
		}
	}
}

// breakToBlank replaces line breaks, which a meta tag may contain, with blanks.
func breakToBlank(r rune) rune {
	if r == '\n' || r == '\r' || r == '\f' {
		return ' '
	}
	return r
}

// Tag holds the directives for one crawler or for all crawlers.
type Tag struct {
	// Crawler is the name of the crawler that the tag applies to; "" means all
	// crawlers.
	Crawler    string
	Directives Directives
}

// Validate returns an error if a header can't contain the name Crawler, or if
// Directives.Validate does. The error is written for the operator.
func (t Tag) Validate() error {
	if err := validateCrawler(t.Crawler); err != nil {
		return err
	}
	return t.Directives.Validate()
}

// String writes the tag as an X-Robots-Tag value.
func (t Tag) String() string {
	b := make([]byte, 0, 64)
	if t.Crawler != "" {
		b = append(append(b, t.Crawler...), ": "...)
	}
	return string(t.Directives.appendTo(b))
}

// ReadTags reads the values of a response's X-Robots-Tag fields as crawlers do.
// It returns one Tag for each crawler that they name, and one with Crawler ""
// for directives without a name, in the order of appearance. Like
// ReadDirectives, it ignores unknown directives.
func ReadTags(values []string) []Tag {
	var tags []Tag
	for _, v := range values {
		for l := (list{rest: v}); ; {
			it, more := l.next()
			if !more {
				break
			}
			one, err := it.directive()
			if err != nil {
				continue
			}
			i := 0
			for i < len(tags) && !strings.EqualFold(tags[i].Crawler, it.crawler) {
				i++
			}
			if i == len(tags) {
				tags = append(tags, Tag{Crawler: it.crawler})
			}
			tags[i].Directives = tags[i].Directives.join(one)
		}
	}
	for i := range tags {
		tags[i].Directives = tags[i].Directives.settle()
	}
	return tags
}
