package headers

import (
	"net/http"
	"slices"
	"strings"
)

// fieldName is the canonical name of the field.
const fieldName = "X-Robots-Tag"

// AddTags adds tags to the X-Robots-Tag fields of h. What h has is kept, but
// for directives that allow what a tag forbids: there the more restrictive one
// wins. What h already says to a crawler, as strictly or more so, is not said
// again. The values of h are not modified in place.
//
// What is said to every crawler comes before what is said to one. A proxy may
// join the fields into one with commas (RFC 9110, section 5.3), and a
// crawler's name holds for all that follows it: in "googlebot: nofollow,
// noindex" the noindex would be for Googlebot alone. A value of h that says
// both is split for that.
func AddTags(h http.Header, tags []Tag) {
	if values := h[fieldName]; len(values) > 0 {
		h[fieldName] = generalFirst(tagsOver(values, tags))
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

// tagsOver is values, without what tags overrule, and what tags say beyond it.
func tagsOver(values []string, tags []Tag) []string {
	there, over := indexTags(ReadTags(values)), indexTags(tags)
	kept := make([]string, 0, len(values)+len(tags))
	for _, v := range values {
		if v = dropOverruled(v, over); v != "" {
			kept = append(kept, v)
		}
	}
	for _, t := range tags {
		if t.Directives = t.Directives.without(there.heardBy(t.Crawler)); !t.Directives.Empty() {
			kept = append(kept, t.String())
		}
	}
	return kept
}

// tagIndex finds in tags what a crawler hears.
type tagIndex struct {
	tags   []Tag
	byName map[string]Directives // in lower case, joined; nil while tags are few
}

// fewTags is how many tags are compared one by one.
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

// heardBy is what a crawler hears: what is said to it and to all.
func (x *tagIndex) heardBy(crawler string) (d Directives) {
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

// overrule reports whether what the element's crawler hears forbids what the
// element allows.
func (x *tagIndex) overrule(it item) bool {
	one, err := it.directive()
	return err == nil && x.heardBy(it.crawler).overrules(one)
}

// dropOverruled is the value without the directives that tags overrule: v
// itself where they overrule none, and "" where nothing is left.
func dropOverruled(v string, tags tagIndex) string {
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
		if tags.overrule(it) {
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

func anyOverruled(v string, tags tagIndex) bool {
	l := list{rest: v}
	for {
		it, more := l.next()
		if !more {
			return false
		}
		if tags.overrule(it) {
			return true
		}
	}
}

// generalFirst is values with all that speaks to every crawler before what
// speaks to one; values itself where it is so already.
func generalFirst(values []string) []string {
	named := false
	if !slices.ContainsFunc(values, func(v string) bool {
		general, own := splitGeneral(v)
		late := named && general != ""
		named = named || own != ""
		return late
	}) {
		return values
	}
	first, last := make([]string, 0, len(values)+1), []string(nil)
	for _, v := range values {
		general, own := splitGeneral(v)
		if general != "" {
			first = append(first, general)
		}
		if own != "" {
			last = append(last, own)
		}
	}
	return append(first, last...)
}

// splitGeneral parts a value into what it says to every crawler and the rest,
// which begins with a crawler's name.
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
