package headers

import (
	"encoding/json"
	"strings"
	"testing"
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
		{google, "noimageindex, unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after: 2010-06-25T23:00:00Z, noimageindex"},
		{bing, "index", "index"},
		{bing, "noindex,follow", "follow, noindex"},
		{bing, "noarchive", "noarchive"},
		{bing, "nocache", "nocache"},
		{yandex, "archive", "archive"},
		{"https://developers.google.com/search/docs/crawling-indexing/google-read-aloud", "nopagereadaloud", "nopagereadaloud"},
		{"https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371", "noai, noimageai", "noai, noimageai"},
		{"https://noml.info/", "noml", "noml"},
		{"nobody reads them any more", "noodp, noydir, noyaca, nopreview, NoTranscode, noimageclick", "noodp, noydir, noyaca, nopreview, notranscode, noimageclick"},
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
		for _, got := range []Directives{a.restrict(b), b.restrict(a), a.restrict(b).restrict(b), a.restrict(a).restrict(b)} {
			if got.String() != test.want {
				t.Errorf("%q and %q: got %q, want %q", test.a, test.b, got, test.want)
			}
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
		r := x.restrict(y)
		if r.restrict(x) != r || r.restrict(y) != r || r.restrict(r) != r {
			t.Errorf("%q.restrict(%q) = %q is not the most restrictive", x, y, r)
		}
		if x.set != 0 && y.set != 0 && !y.restrict(x).same(r) {
			t.Errorf("%q and %q restrict to %q or %q", x, y, r, y.restrict(x))
		}
		h := header(a)
		AddTags(h, []Tag{{"", y}})
		if got := directivesFor(h, ""); !got.restrict(y).same(got) && len(a) < 1000 {
			t.Errorf("%q with %q added is %q, which does not have all directives of both", a, y, h)
		}
	})
}

// same reports whether d and e mean the same, in the same or other words (none,
// or noindex and nofollow).
func (d Directives) same(e Directives) bool {
	d.set, e.set = d.set&^none, e.set&^none
	d.values[3], e.values[3] = d.values[3]&^1, e.values[3]&^1 // a day, or its first second
	return d == e
}
