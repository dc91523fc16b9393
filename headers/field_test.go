package headers

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// directivesFor returns the directives in the X-Robots-Tag fields of h that
// apply to a crawler.
func directivesFor(h http.Header, crawler string) Directives {
	return forCrawler(ReadTags(h["X-Robots-Tag"]), crawler)
}

// joinable reports whether a value has only complete directives, names of
// crawlers and unknown words, so that joining it with another value can't make
// a directive from parts of both.
func joinable(v string) bool {
	l := list{rest: v}
	for it := range l.items {
		if _, err := it.directive(); err != nil && lookup(it.name) != 0 {
			return false
		}
	}
	return l.rest == "" && l.count < 32
}

// FuzzJoinedFields checks that a proxy may join the fields to one (RFC 9110,
// section 5.3): the same directives apply to each crawler, and no directive of
// the fields or of the tags is lost.
func FuzzJoinedFields(f *testing.F) {
	f.Add("googlebot: nofollow", "noindex", "noarchive", "bingbot", "nosnippet", false)
	f.Add("noindex, googlebot: none", "nosnippet, bingbot: max-snippet:5", "index", "googlebot", "all", true)
	f.Add("otherbot:", "unavailable_after: Saturday, 05-Jun-27 13:30:00 GMT", "noindex, indexifembedded", "a b", "none", false)
	f.Fuzz(func(t *testing.T, first, second, general, crawler, own string, ownFirst bool) {
		if !joinable(first) || !joinable(second) {
			return
		}
		tags := []Tag{{"", ReadDirectives(general)}, {crawler, ReadDirectives(own)}}
		if tags[1].Validate() != nil {
			tags = tags[:1]
		} else if ownFirst {
			slices.Reverse(tags)
		}
		for _, h := range []http.Header{{}, header(first), header(first, second)} {
			before := h.Clone()
			AddTags(h, tags)
			fields := h["X-Robots-Tag"]
			joined := header(strings.Join(fields, ", "))
			names := []string{"", "otherbot"}
			for _, tag := range append(ReadTags(append(fields, before["X-Robots-Tag"]...)), tags...) {
				names = append(names, tag.Crawler)
			}
			for _, name := range names {
				if apart, together := directivesFor(h, name), directivesFor(joined, name); !apart.same(together) {
					t.Errorf("%q has %q for %q, joined %q", fields, apart, name, together)
				}
				all := directivesFor(before, name)
				for _, tag := range tags {
					if tag.Crawler == "" || strings.EqualFold(tag.Crawler, name) {
						all = all.join(tag.Directives)
					}
				}
				if got := directivesFor(h, name); !got.restrict(all.settle()).same(got) {
					t.Errorf("%q with %v added has %q for %q, which is less than %q", before["X-Robots-Tag"], tags, got, name, all)
				}
			}
		}
	})
}
