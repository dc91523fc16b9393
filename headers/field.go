package headers

import (
	"net/http"
	"strings"
)

// fieldName is the name of the field in canonical form.
const fieldName = "X-Robots-Tag"

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
	if values := h[fieldName]; len(values) > 0 {
		h[fieldName] = generalFirst(mergeTags(values, tags))
		return
	}
	values := make([]string, 0, len(tags))
	for _, general := range [...]bool{true, false} {
		for _, t := range tags {
			if (t.Crawler == "") == general && !t.Directives.Empty() {
				values = append(values, t.String())
			}
		}
	}
	if len(values) > 0 {
		h[fieldName] = values
	}
}

// mergeTags returns the values without the directives that tags override,
// followed by the directives of tags that the values do not imply.
func mergeTags(values []string, tags []Tag) []string {
	there, over := indexTags(ReadTags(values)), indexTags(tags)
	kept := make([]string, 0, len(values)+len(tags))
	for _, v := range values {
		if v = dropOverridden(v, over); v != "" {
			kept = append(kept, v)
		}
	}
	for _, t := range tags {
		if t.Directives = t.Directives.without(there.forCrawler(t.Crawler)); !t.Directives.Empty() {
			kept = append(kept, t.String())
		}
	}
	return kept
}

// tagIndex finds the directives of tags that apply to a crawler.
type tagIndex struct {
	tags   []Tag
	byName map[string]Directives // joined directives by name in lower case; nil if there are few tags
}

// fewTags is the maximal number of tags that are compared one by one.
const fewTags = 8

func indexTags(tags []Tag) tagIndex {
	x := tagIndex{tags: tags}
	if len(tags) > fewTags {
		x.byName = make(map[string]Directives, len(tags))
		for _, t := range tags {
			name := strings.ToLower(t.Crawler)
			x.byName[name] = x.byName[name].join(t.Directives)
		}
	}
	return x
}

// forCrawler returns the directives that apply to a crawler: those with its
// name, and those for all crawlers.
func (x *tagIndex) forCrawler(crawler string) (d Directives) {
	if x.byName != nil {
		d = x.byName[""]
		if crawler != "" {
			d = d.join(x.byName[strings.ToLower(crawler)])
		}
		return d.settle()
	}
	for _, t := range x.tags {
		if t.Crawler == "" || strings.EqualFold(t.Crawler, crawler) {
			d = d.join(t.Directives)
		}
	}
	return d.settle()
}

// dropOverridden returns the value without the directives that tags override.
// It returns v itself if they override none, and "" if nothing is left.
func dropOverridden(v string, tags tagIndex) string {
	var b strings.Builder
	crawler, dropped := "", false
	l := list{rest: v}
	for it := range l.items {
		if one, err := it.directive(); err == nil && tags.forCrawler(it.crawler).overrides(one) {
			dropped = true
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if it.crawler != crawler {
			b.WriteString(it.crawler + ": ")
			crawler = it.crawler
		}
		b.WriteString(it.raw)
	}
	if !dropped {
		return v
	}
	if l.rest != "" { // after the last element that is read
		b.WriteString(", " + l.rest)
	}
	return b.String()
}

// generalFirst returns the values with the directives for all crawlers before
// those for one crawler. It returns values itself if they already have this
// order.
func generalFirst(values []string) []string {
	var first, last []string
	sorted := true
	for _, v := range values {
		general, own := splitGeneral(v)
		if general != "" {
			sorted = sorted && len(last) == 0
			first = append(first, general)
		}
		if own != "" {
			last = append(last, own)
		}
	}
	if sorted {
		return values
	}
	return append(first, last...)
}

// splitGeneral splits a value into the directives for all crawlers and the
// rest, which begins with a crawler's name.
func splitGeneral(v string) (general, own string) {
	l := list{rest: v}
	for {
		before := strings.TrimLeft(l.rest, ", \t")
		_, more := l.next()
		if l.crawler != "" {
			return strings.TrimRight(v[:len(v)-len(before)], ", \t"), before
		}
		if !more {
			return v, ""
		}
	}
}
