package headers

import (
	"slices"
	"strings"
	"testing"
)

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
		{"noindex: yes", `noindex takes no value; found "yes"`},
		{"max-snippet", `max-snippet needs a whole number`},
		{"max-snippet:-2", `max-snippet needs a whole number`},
		{"max-snippet:+2", `found "+2"`},
		{"max-snippet:5.5", `found "5.5"`},
		{"max-snippet:99999999999", `found "99999999999"`},
		{"max-image-preview:7", `none, standard or large; found "7"`},
		{"unavailable_after", `needs a date`},
		{"unavailable_after:, noindex", `needs a date`},
		{"unavailable_after: tomorrow", `found "tomorrow"`},
		{"unavailable_after: Sat, 32 Jun 2027 13:30:00 GMT", `found "Sat, 32 Jun 2027 13:30:00 GMT"`},
		{"unavailable_after: 12/31/2027", `2027-12-31`},
		{"index, noindex", "index and noindex contradict each other"},
		{"follow, noindex, nofollow", "follow and nofollow contradict each other"},
		{"all, noindex", "all and noindex contradict each other"},
		{"none, index", "index and noindex contradict each other"},
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
