package headers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVocabulary checks that each directive is read and written as its
// documentation says.
func TestVocabulary(t *testing.T) {
	const (
		google = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
		bing   = "https://www.bing.com/webmasters/help/which-robots-metatags-does-bing-support-5198d240"
		yandex = "https://yandex.com/support/webmaster/controlling-robot/meta-robots.html"
	)
	for _, test := range []struct{ doc, in, want string }{
		{google, "all", "all"},
		{google, "noindex", "noindex"},
		{google, "nofollow", "nofollow"},
		{google, "none", "none"},
		{google, "NOINDEX, NoFollow", "noindex, nofollow"}, // "not case-sensitive"
		{google, "nosnippet", "nosnippet"},
		{google, "noindex, indexifembedded", "noindex, indexifembedded"},
		{google, "max-snippet:20", "max-snippet:20"},
		{google, "max-snippet: 20", "max-snippet:20"},
		{google, "max-snippet:0", "max-snippet:0"},
		{google, "max-snippet:-1", "max-snippet:-1"},
		{google, "max-image-preview:none", "max-image-preview:none"},
		{google, "max-image-preview:Standard", "max-image-preview:standard"},
		{google, "max-image-preview:large", "max-image-preview:large"},
		{google, "max-video-preview:-1", "max-video-preview:-1"},
		{google, "max-snippet:20, max-image-preview:large", "max-snippet:20, max-image-preview:large"},
		{google, "notranslate", "notranslate"},
		{google, "noimageindex", "noimageindex"},
		{google, "nositelinkssearchbox", "nositelinkssearchbox"},
		{google, "unavailable_after: 2020-09-21", "unavailable_after: 2020-09-21"},
		{google, "unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after: 2010-06-25T23:00:00Z"},
		{google, "noimageindex, unavailable_after: 25 Jun 2010 15:00:00 PST", "noimageindex, unavailable_after: 2010-06-25T23:00:00Z"},
		{bing, "index", "index"},
		{bing, "noindex,follow", "follow, noindex"},
		{bing, "noarchive", "noarchive"},
		{bing, "nocache", "nocache"},
		{bing, "noodp", "noodp"},
		{yandex, "archive", "archive"},
		{yandex, "noyaca", "noyaca"},
		{"https://developers.google.com/search/docs/crawling-indexing/google-read-aloud", "nopagereadaloud", "nopagereadaloud"},
		{"https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371", "noai, noimageai", "noai, noimageai"},
		{"https://help.yahoo.com/kb/search-for-desktop/SLN2256.html", "noydir", "noydir"},
		{"RFC 9110, section 5.6.1.2", " , noindex,,nofollow , ", "noindex, nofollow"},
	} {
		d, err := ParseDirectives(test.in)
		if err != nil {
			t.Errorf("ParseDirectives(%q): %v (%s)", test.in, err, test.doc)
			continue
		}
		if got := d.String(); got != test.want {
			t.Errorf("ParseDirectives(%q) = %q, want %q (%s)", test.in, got, test.want, test.doc)
		}
		if got := ReadDirectives(test.in); got != d {
			t.Errorf("ReadDirectives(%q) = %q, want %q", test.in, got, d)
		}
	}
	for _, w := range vocabulary {
		if !strings.HasPrefix(w.doc, "https://") || w.bit&w.sets == 0 {
			t.Errorf("row %q of the vocabulary is incomplete", w.name)
		}
	}
}

// TestDates checks that a date in any supported form is read completely, and
// written without a comma: RFC 822, section 5; RFC 850, section 2.1.4; ISO 8601
// as in RFC 3339.
func TestDates(t *testing.T) {
	want := time.Date(2027, 6, 5, 13, 30, 0, 0, time.UTC)
	for _, in := range []string{
		"Sat, 05 Jun 27 13:30:00 GMT",
		"5 Jun 27 13:30 UT",
		"Sat, 05 Jun 2027 13:30:00 +0000",
		"05 Jun 2027 09:30 EDT",
		"Sat, 05 Jun 2027 05:30:00 PST",
		"Sat 05 Jun 2027 13:30:00 UTC",
		"Saturday, 05-Jun-27 13:30:00 GMT",
		"Saturday, 5-Jun-2027 14:30:00 +0100",
		"2027-06-05T13:30:00Z",
		"2027-06-05T13:30:00.250Z",
		"2027-06-05T15:30:00+02:00",
		"2027-06-05T15:30+0200",
		"2027-06-05T15:30+02",
		"2027-06-05 13:30:00",
		"2027-06-05 13:30",
		"20270605T133000Z",
	} {
		for _, list := range []string{
			"unavailable_after: " + in, "unavailable_after:" + in + ", noindex", "noindex, unavailable_after: " + in + ",nofollow",
		} {
			d, err := ParseDirectives(list)
			if err != nil {
				t.Errorf("ParseDirectives(%q): %v", list, err)
				continue
			}
			if got, ok := d.UnavailableAfter(); !ok || !got.Equal(want) {
				t.Errorf("ParseDirectives(%q): unavailable_after is %v, want %v", list, got, want)
			}
			if strings.Contains(list, "noindex") != d.Has("noindex") || strings.Contains(list, "nofollow") != d.Has("nofollow") {
				t.Errorf("ParseDirectives(%q) = %q", list, d)
			}
			if again, err := ParseDirectives(d.String()); err != nil || again != d {
				t.Errorf("ParseDirectives(%q) = %v, %v, want %v", d.String(), again, err, d)
			}
		}
	}
}

// TestParseErrors checks that mistakes give an error which suggests a similar
// name or what to write instead.
func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", "no directive"},
		{" , ", "no directive"},
		{"noindx", `unknown directive "noindx"; did you mean "noindex"?`},
		{"no-index", `did you mean "noindex"?`},
		{"no_follow", `did you mean "nofollow"?`},
		{"noflolow", `did you mean "nofollow"?`},
		{"unavailable-after: 2027-01-01", `did you mean "unavailable_after"?`},
		{"max_snippet:50", `did you mean "max-snippet"?`},
		{"max-image-prevew:none", `did you mean "max-image-preview"?`},
		{"disallow", `unknown directive "disallow"; known are all, index,`},
		{"noindex nofollow", `unknown directive "noindex nofollow"`},
		{"noindex: yes", `noindex takes no value, found "yes"`},
		{"max-snippet", `max-snippet needs a whole number`},
		{"max-snippet:-2", `max-snippet needs a whole number`},
		{"max-snippet:+2", `found "+2"`},
		{"max-snippet:5.5", `found "5.5"`},
		{"max-snippet:99999999999", `found "99999999999"`},
		{"max-image-preview:lage", `did you mean "large"?`},
		{"max-image-preview:7", `none, standard or large; found "7"`},
		{"unavailable_after", `needs a date`},
		{"unavailable_after:, noindex", `needs a date`},
		{"unavailable_after: tomorrow", `found "tomorrow"`},
		{"unavailable_after: Sat, 32 Jun 2027 13:30:00 GMT", `found "Sat, 32 Jun 2027 13:30:00 GMT"`},
		{"unavailable_after: 12/31/2027", `2027-12-31`},
		{"index, noindex", "index and noindex contradict each other"},
		{"follow, noindex, nofollow", "follow and nofollow contradict each other"},
		{"all, noindex", "all and noindex contradict each other"},
		{"none, index", "index and none contradict each other"},
		{"archive, noarchive", "archive and noarchive contradict each other"},
		{"nosnippet, max-snippet:50", "nosnippet and max-snippet:50 contradict each other"},
		{"indexifembedded", "indexifembedded has no effect without noindex"},
		{"max-snippet:1, max-snippet:2", "max-snippet is given twice"},
		{"googlebot: noindex", `crawler "googlebot" in the middle`},
	} {
		_, err := ParseDirectives(test.in)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParseDirectives(%q): error %v, want one with %q", test.in, err, test.want)
		}
	}
	for _, in := range []string{"noindex, noindex", "none, noindex", "max-snippet:5, max-snippet:5", "nosnippet, max-snippet:0", "follow, noindex", "all, noarchive"} {
		if _, err := ParseDirectives(in); err != nil {
			t.Errorf("ParseDirectives(%q): %v", in, err)
		}
	}
}

// TestRestrict checks that the more restrictive directive applies (Google,
// "combining multiple rules": "the more restrictive rule applies").
func TestRestrict(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"noindex", "nofollow", "noindex, nofollow"},
		{"all", "noindex", "noindex"},
		{"index, follow", "nofollow", "index, nofollow"},
		{"max-snippet:50", "nosnippet", "nosnippet"},
		{"max-snippet:50", "max-snippet:20", "max-snippet:20"},
		{"max-snippet:-1", "max-snippet:20", "max-snippet:20"},
		{"max-snippet:0", "max-snippet:-1", "max-snippet:0"},
		{"max-video-preview:-1", "max-video-preview:3", "max-video-preview:3"},
		{"max-image-preview:large", "max-image-preview:standard", "max-image-preview:standard"},
		{"unavailable_after: 2027-01-02", "unavailable_after: 2027-01-01", "unavailable_after: 2027-01-01"},
		{"none", "noarchive", "none, noarchive"},
		{"noindex, indexifembedded", "noindex", "noindex"},
		{"noindex, indexifembedded", "nofollow", "noindex, nofollow, indexifembedded"},
		{"", "noindex", "noindex"},
	} {
		a, b := ReadDirectives(test.a), ReadDirectives(test.b)
		for _, got := range []Directives{a.Restrict(b), b.Restrict(a), a.Restrict(b).Restrict(b), a.Restrict(a).Restrict(b)} {
			if got.String() != test.want {
				t.Errorf("%q and %q: got %q, want %q", test.a, test.b, got, test.want)
			}
		}
	}
}

func TestReadTags(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   []string
	}{
		{[]string{"noindex"}, []string{"noindex"}},
		{[]string{"googlebot: nofollow", "otherbot: noindex, nofollow"}, []string{"googlebot: nofollow", "otherbot: noindex, nofollow"}},
		{[]string{"noarchive, googlebot: nofollow, noindex, otherbot: none"}, []string{"noarchive", "googlebot: noindex, nofollow", "otherbot: none"}},
		{[]string{"GoogleBot: noindex", "googlebot: indexifembedded"}, []string{"GoogleBot: noindex, indexifembedded"}},
		{[]string{"googlebot: max-snippet: 5, unavailable_after: Saturday, 05-Jun-27 13:30:00 GMT"}, []string{"googlebot: max-snippet:5, unavailable_after: 2027-06-05T13:30:00Z"}},
		{[]string{"gibberish, 42, noindex nofollow, max-snippet:x"}, nil},
		{[]string{"noindex", "index"}, []string{"noindex"}},
	} {
		var got []string
		for _, tag := range ReadTags(test.values) {
			got = append(got, tag.String())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("ReadTags(%q) = %q, want %q", test.values, got, test.want)
		}
	}
}

func TestDirectivesJSON(t *testing.T) {
	var d Directives
	if err := json.Unmarshal([]byte(`"nofollow, noindex"`), &d); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(d); err != nil || string(b) != `"noindex, nofollow"` {
		t.Errorf("got %s, %v", b, err)
	}
	if err := json.Unmarshal([]byte(`"noindx"`), &d); err == nil || !strings.Contains(err.Error(), "noindex") {
		t.Errorf("error %v does not name noindex", err)
	}
}

func FuzzDirectives(f *testing.F) {
	for _, s := range []string{"noindex, nofollow", "googlebot: none", "unavailable_after: Sat, 05 Jun 2027 13:30:00 GMT, all", "max-snippet:-1,max-image-preview:large"} {
		f.Add(s, "index, "+s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if d, err := ParseDirectives(a); err == nil {
			again, err := ParseDirectives(d.String())
			if err != nil || again != d {
				t.Errorf("%q: String returns %q, which is parsed as %q, %v", a, d, again, err)
			}
		}
		x, y := ReadDirectives(a), ReadDirectives(b)
		if got := ReadDirectives(x.String()); got != x {
			t.Errorf("%q: String returns %q, which is parsed as %q", a, x, got)
		}
		r := x.Restrict(y)
		if r.Restrict(x) != r || r.Restrict(y) != r || r.Restrict(r) != r {
			t.Errorf("%q.Restrict(%q) = %q is not the most restrictive", x, y, r)
		}
		if x.set != 0 && y.set != 0 && !y.Restrict(x).same(r) {
			t.Errorf("%q and %q restrict to %q or %q", x, y, r, y.Restrict(x))
		}
		h := header(a)
		AddTags(h, []Tag{{"", y}})
		if got := directivesFor(h, ""); !got.Restrict(y).same(got) && len(a) < 1000 {
			t.Errorf("%q with %q added is %q, which does not have all directives of both", a, y, h)
		}
	})
}

// same reports whether d and e mean the same, in the same or other words (none,
// or noindex and nofollow).
func (d Directives) same(e Directives) bool {
	d.set, e.set = d.set&^none, e.set&^none
	d.day, e.day = false, false
	return d == e
}

// directivesFor returns the directives in the X-Robots-Tag fields of h that
// apply to a crawler.
func directivesFor(h http.Header, crawler string) Directives {
	tags := indexTags(ReadTags(h["X-Robots-Tag"]))
	return tags.forCrawler(crawler)
}

// joinable reports whether a value has only complete directives, names of
// crawlers and unknown words, so that joining it with another value can't make
// a directive from parts of both.
func joinable(v string) bool {
	l := list{rest: v}
	for {
		it, more := l.next()
		if !more {
			return l.rest == "" && l.count < 32
		}
		if _, err := it.directive(); err != nil && lookup(it.name) != nil {
			return false
		}
	}
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
				if got := directivesFor(h, name); !got.Restrict(all.settle()).same(got) {
					t.Errorf("%q with %v added has %q for %q, which is less than %q", before["X-Robots-Tag"], tags, got, name, all)
				}
			}
		}
	})
}
