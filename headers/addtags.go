package headers

import (
	"net/http"
	"strings"
)

// fieldName is the canonical name of the field.
const fieldName = "X-Robots-Tag"

// AddTags adds tags to the X-Robots-Tag fields of h. What h has is kept, but
// for directives that allow what a tag forbids: there the more restrictive one
// wins. What h already says to a crawler, as strictly or more so, is not said
// again. The values of h are not modified in place.
func AddTags(h http.Header, tags []Tag) {
	values := h[fieldName]
	if len(values) == 0 {
		values = make([]string, 0, len(tags))
		for _, t := range tags {
			if !t.Directives.Empty() {
				values = append(values, t.String())
			}
		}
		if len(values) > 0 {
			h[fieldName] = values
		}
		return
	}
	there := ReadTags(values)
	kept := make([]string, 0, len(values)+len(tags))
	for _, v := range values {
		if v = dropOverruled(v, tags); v != "" {
			kept = append(kept, v)
		}
	}
	for _, t := range tags {
		if t.Directives = t.Directives.without(heardBy(there, t.Crawler)); !t.Directives.Empty() {
			kept = append(kept, t.String())
		}
	}
	h[fieldName] = kept
}

// heardBy is what tags say to a crawler: what they say to it and to all.
func heardBy(tags []Tag, crawler string) Directives {
	var d Directives
	for _, t := range tags {
		if t.Crawler == "" || strings.EqualFold(t.Crawler, crawler) {
			d = d.join(t.Directives)
		}
	}
	return d.settle()
}

// dropOverruled is the value without the directives that tags overrule: v
// itself where they overrule none, and "" where nothing is left.
func dropOverruled(v string, tags []Tag) string {
	if !anyOverruled(v, tags) {
		return v
	}
	var b strings.Builder
	crawler := ""
	l := list{rest: v}
	for {
		it, more := l.next()
		if !more {
			break
		}
		if it.overruled(tags) {
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
	if l.rest != "" { // beyond what is read
		b.WriteString(", " + l.rest)
	}
	return b.String()
}

func anyOverruled(v string, tags []Tag) bool {
	l := list{rest: v}
	for {
		it, more := l.next()
		if !more {
			return false
		}
		if it.overruled(tags) {
			return true
		}
	}
}

// overruled reports whether one of tags that the element's crawler hears
// forbids what the element allows.
func (it item) overruled(tags []Tag) bool {
	one, err := it.directive()
	if err != nil {
		return false
	}
	for _, t := range tags {
		if (t.Crawler == "" || strings.EqualFold(t.Crawler, it.crawler)) && t.Directives.overrules(one) {
			return true
		}
	}
	return false
}
