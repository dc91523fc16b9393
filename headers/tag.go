package headers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

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
	switch name := t.Crawler; {
	case name == "*" || strings.EqualFold(name, "robots"):
		return fmt.Errorf("%q can't be the name of a crawler in a header; leave it out to address all crawlers", name)
	case lookup(name) != 0:
		return fmt.Errorf("%q is a directive, not a crawler", name)
	case name != "" && !isCrawler(name):
		return fmt.Errorf("crawler %.80q: a crawler's name may have only letters, digits, blanks, hyphens, underscores and dots", name)
	}
	return t.Directives.validate()
}

// String returns the tag as an X-Robots-Tag value.
func (t Tag) String() string {
	if t.Crawler == "" {
		return t.Directives.String()
	}
	return t.Crawler + ": " + t.Directives.String()
}

// fieldName is the name of the field in canonical form.
const fieldName = "X-Robots-Tag"

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

// forCrawler returns the directives that apply to a crawler: those with its
// name, and those for all crawlers.
func forCrawler(tags []Tag, crawler string) (d Directives) {
	for _, t := range tags {
		if t.Crawler == "" || strings.EqualFold(t.Crawler, crawler) {
			d = d.join(t.Directives)
		}
	}
	return d.settle()
}

// AddTags adds tags to the X-Robots-Tag fields of h. It keeps the directives
// that h has, except those that permit what a tag forbids. It does not add a
// directive if h already has it, or a more restrictive one, for the same
// crawler. AddTags does not modify the slices in h in place.
//
// AddTags puts directives for all crawlers before those for one crawler, and
// splits a value of h that has both. The reason is that a proxy may join the
// fields to one field with commas (RFC 9110, section 5.3), and the name of a
// crawler applies to all directives after it: in "googlebot: nofollow,
// noindex", the noindex would apply only to Googlebot.
func AddTags(h http.Header, tags []Tag) {
	var general, own []string
	add := func(crawler, text string) {
		switch {
		case text == "":
		case crawler == "":
			general = append(general, text)
		default:
			own = append(own, crawler+": "+text)
		}
	}
	before := h[fieldName]
	for _, v := range before {
		l := list{rest: v}
		var crawler, text string // of the elements since the last name
		for it := range l.items {
			if it.crawler != crawler {
				add(crawler, text)
				crawler, text = it.crawler, ""
			}
			one, err := it.directive()
			if err == nil && forCrawler(tags, crawler).overrides(one) {
				continue
			}
			if text != "" {
				text += ", "
			}
			text += it.raw
		}
		add(crawler, text)
		add(l.crawler, l.rest) // what is not read
	}
	there := ReadTags(before)
	for _, t := range tags {
		add(t.Crawler, t.Directives.without(forCrawler(there, t.Crawler)).String())
	}
	if values := append(general, own...); len(values) > 0 {
		h[fieldName] = values
	}
}

// AddVary adds the name of a request field, such as User-Agent, to the Vary
// field of h. It means that the response depends on that field (RFC 9110,
// section 12.5.5). AddVary adds nothing if Vary already has the name or is *.
// It does not modify the slices in h in place.
func AddVary(h http.Header, field string) {
	values := h["Vary"]
	for _, v := range values {
		for name := range strings.SplitSeq(v, ",") {
			name = trim(name)
			if name == "*" || strings.EqualFold(name, field) {
				return
			}
		}
	}
	h["Vary"] = append(values[:len(values):len(values)], field)
}
