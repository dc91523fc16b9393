package headers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// item is one element of an X-Robots-Tag list.
type item struct {
	crawler     string // the crawler that it applies to, as written; "": all crawlers
	name, value string
	raw         string // name and value as written, without the crawler
}

// list iterates over the elements of a value. It does not split a date at its
// comma. The name of a crawler applies to all elements up to the next name.
type list struct {
	rest    string
	crawler string
	blanks  bool // elements may be separated by blanks instead of commas
	count   int  // number of elements and names so far
}

// maxItems is the maximal number of elements that are read of one value; the
// rest is ignored. Even all known directives for ten crawlers are fewer.
const maxItems = 256

// next returns the next element, or false at the end. It skips empty elements
// (RFC 9110, section 5.6.1.2).
func (l *list) next() (item, bool) {
	for {
		l.rest = strings.TrimLeft(l.rest, ", \t")
		if l.rest == "" || l.count == maxItems {
			return item{}, false
		}
		element, _, _ := strings.Cut(l.rest, ",")
		end := len(element)
		name, value, colon := strings.Cut(element, ":")
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

// items iterates over the remaining elements.
func (l *list) items(yield func(item) bool) {
	for it, more := l.next(); more && yield(it); it, more = l.next() {
	}
}

// take returns the first end octets of the rest as an element, and removes
// them.
func (l *list) take(name, value string, end int) item {
	l.count++
	it := item{l.crawler, name, value, trim(l.rest[:end])}
	l.rest = l.rest[end:]
	return it
}

// date returns the value of unavailable_after and the end of its element. The
// value is the longest text that is a valid date. If there is none, it is the
// text up to the first comma that does not follow a weekday.
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
		text, _, _ := strings.Cut(tail, ",")
		date = len(text)
	}
	return tail[:date], start + date
}

// isCrawler reports whether s can be the name of a crawler: a product token
// (RFC 9309, section 2.2.1), which may also have digits, dots and blanks as the
// names of real crawlers do.
func isCrawler(s string) bool {
	if s == "" || len(s) > maxCrawler || !isLetterOrDigit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetterOrDigit(s[i]) && strings.IndexByte("-_. ", s[i]) < 0 {
			return false
		}
	}
	for word := range strings.SplitSeq(s, " ") { // no double blanks, and no list of directives without commas
		if word == "" || lookup(word) != nil || word == "only" {
			return false
		}
	}
	return true
}

// maxCrawler is the maximal length of a crawler's name, in octets.
const maxCrawler = 128

func isLetterOrDigit(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

func trim(s string) string { return strings.Trim(s, " \t") }

// ParseDirectives parses a list such as "noindex, max-snippet:50": the content
// of a robots meta tag, or an X-Robots-Tag value without the name of a crawler.
// It ignores the case of names and values. A date may have RFC 822, RFC 850 or
// ISO 8601 form, and may contain a comma.
//
// Use ParseDirectives for text that an operator writes: it returns an error for
// an unknown directive, a wrong value or a contradiction. The error says what
// to write instead.
func ParseDirectives(s string) (Directives, error) { return parseList(&list{rest: s}) }

func parseList(l *list) (Directives, error) {
	var d Directives
	for it := range l.items {
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
	return d, d.validate()
}

// directive parses the element. It returns an error for an unknown directive or
// a wrong value.
func (it item) directive() (Directives, error) {
	w := lookup(it.name)
	if w == nil {
		return Directives{}, unknownDirective(it.name)
	}
	return w.value(it.value)
}

// misplacedCrawler returns the error for the name of a crawler at a place where
// only a directive is allowed.
func misplacedCrawler(name string) error {
	if nearValued(name) != "" {
		return unknownDirective(name)
	}
	return fmt.Errorf("crawler %q in the middle of the directives; write the directives for it on a separate line", clip(name))
}

// nearValued returns the directive that a misspelt name before a colon probably
// means, "" if there is none. Only directives with a value can be before a
// colon.
func nearValued(name string) string { return editdistance.Nearest(name, slices.Values(valued.list())) }

// ReadDirectives parses lists, such as the contents of the robots meta tags of a
// document, as a crawler does: it returns no error, and ignores unknown
// directives and wrong values. It merges several lists as if they were one. If
// directives contradict each other, it keeps the more restrictive one. Use
// ReadDirectives for text from other sources than the operator.
func ReadDirectives(lists ...string) Directives {
	var d Directives
	for _, s := range lists {
		l := list{rest: breaksToBlanks.Replace(s)}
		for it := range l.items {
			if one, err := it.directive(); err == nil && it.crawler == "" {
				d = d.join(one)
			}
		}
	}
	return d.settle()
}

// breaksToBlanks replaces line breaks, which a meta tag may contain, with blanks.
var breaksToBlanks = strings.NewReplacer("\n", " ", "\r", " ", "\f", " ")

// Tag holds the directives for one crawler or for all crawlers.
type Tag struct {
	// Crawler is the name of the crawler that the tag applies to; "" means all
	// crawlers.
	Crawler    string
	Directives Directives
}

// Validate returns an error if Crawler is not a valid name, or the error of
// Directives.validate. The error is written for the operator.
func (t Tag) Validate() error {
	if err := validateCrawler(t.Crawler); err != nil {
		return err
	}
	return t.Directives.validate()
}

// String returns the tag as an X-Robots-Tag value.
func (t Tag) String() string {
	b := make([]byte, 0, 64)
	if t.Crawler != "" {
		b = append(append(b, t.Crawler...), ": "...)
	}
	return string(t.Directives.appendTo(b))
}

// ReadTags parses the values of the X-Robots-Tag fields of a response as
// crawlers do. It returns one Tag for each crawler that they name, and one with
// Crawler "" for directives without a name, in the order of their first
// occurrence. Like ReadDirectives, it ignores unknown directives and wrong
// values.
func ReadTags(values []string) []Tag {
	var tags []Tag
	for _, v := range values {
		l := list{rest: v}
		for it := range l.items {
			one, err := it.directive()
			if err != nil {
				continue
			}
			i := slices.IndexFunc(tags, func(t Tag) bool { return strings.EqualFold(t.Crawler, it.crawler) })
			if i < 0 {
				i = len(tags)
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
