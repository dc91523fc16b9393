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

func (it *item) directive() (Directives, error) { return parseDirective(it.name, it.value) }

// list iterates over the elements of a value. It does not split a date at its
// comma. The name of a crawler applies to all elements up to the next name.
type list struct {
	rest    string
	crawler string
	count   int // number of elements and names so far
}

// maxItems is the maximal number of elements that are read of one value; the
// rest is ignored. Even all known directives for ten crawlers are fewer.
const maxItems = 256

// items iterates over the elements. It skips empty ones (RFC 9110, section
// 5.6.1.2). What it does not read stays in the rest.
func (l *list) items(yield func(item) bool) {
	for ; ; l.count++ {
		l.rest = strings.TrimLeft(l.rest, ", \t")
		if l.rest == "" || l.count == maxItems {
			return
		}
		element, after, _ := strings.Cut(l.rest, ",")
		name, value, colon := strings.Cut(element, ":")
		name = trim(name)
		if colon && isCrawler(name) {
			l.crawler, l.rest = name, l.rest[strings.IndexByte(l.rest, ':')+1:]
			continue
		}
		if lookup(name) == unavailableAfter && isWeekday(trim(value)) { // of a date with a comma
			more, later, _ := strings.Cut(after, ",")
			element, after, value = l.rest[:min(len(l.rest), len(element)+1+len(more))], later, value+","+more
		}
		l.rest = after
		if !yield(item{l.crawler, name, trim(value), trim(element)}) {
			return
		}
	}
}

// isCrawler reports whether s can be the name of a crawler: a product token
// (RFC 9309, section 2.2.1), which may also have digits, dots and blanks as the
// names of real crawlers do.
func isCrawler(s string) bool {
	if s == "" || len(s) > 128 || strings.IndexByte("-_. ", s[0]) >= 0 || strings.Trim(s, alphanumeric+"-_. ") != "" {
		return false
	}
	for word := range strings.SplitSeq(s, " ") { // no double blanks, and no list of directives without commas
		if word == "" || lookup(word) != 0 || word == "only" {
			return false
		}
	}
	return true
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func trim(s string) string { return strings.Trim(s, " \t") }

// ParseDirectives parses a list such as "noindex, max-snippet:50": the content
// of a robots meta tag, or an X-Robots-Tag value without the name of a crawler.
// It ignores the case of names and values. A date may have RFC 822, RFC 850 or
// ISO 8601 form, and may contain a comma.
//
// Use ParseDirectives for text that an operator writes: it returns an error for
// an unknown directive, a wrong value or a contradiction. The error says what
// to write instead.
func ParseDirectives(s string) (Directives, error) {
	var d Directives
	l := list{rest: s}
	for it := range l.items {
		if it.crawler != "" && nearValued(it.crawler) != "" {
			return Directives{}, unknownDirective(it.crawler)
		}
		if it.crawler != "" {
			return Directives{}, fmt.Errorf("crawler %.80q in the middle of the directives; write the directives for it on a separate line",
				it.crawler)
		}
		one, err := it.directive()
		if err != nil {
			return Directives{}, err
		}
		if again := d.set & one.set & allValued; again != 0 && d.keep(again) != one {
			return Directives{}, fmt.Errorf("%s is given twice with different values; keep one", it.name)
		}
		d = d.join(one)
	}
	return d, d.validate()
}

// nearValued returns the directive that a misspelt name before a colon probably
// means, "" if there is none. Only directives with a value can be before a
// colon.
func nearValued(name string) string {
	return editdistance.Nearest(name, slices.Values(allValued.names()))
}

// ReadDirectives parses lists, such as the contents of the robots meta tags of a
// document, as a crawler does: it returns no error, and ignores unknown
// directives and wrong values. It merges several lists as if they were one. If
// directives contradict each other, it keeps the more restrictive one. Use
// ReadDirectives for text from other sources than the operator.
func ReadDirectives(lists ...string) Directives {
	values := make([]string, len(lists))
	for i, s := range lists {
		values[i] = strings.Join(strings.Fields(s), " ") // a meta tag may contain line breaks
	}
	return forCrawler(ReadTags(values), "")
}
