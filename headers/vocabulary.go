package headers

import (
	"fmt"
	"slices"
	"strings"
)

// set is a set of directives, one bit for each row of the vocabulary.
type set uint32

const (
	all set = 1 << iota
	index
	follow
	archive
	none
	noindex
	nofollow
	noarchive
	nocache
	nosnippet
	indexifembedded
	maxSnippet
	maxImagePreview
	maxVideoPreview
	notranslate
	noimageindex
	nositelinkssearchbox
	nopagereadaloud
	unavailableAfter
	noai
	noimageai
	noodp
	noydir
	noyaca
)

// kind is the form of the value that follows a directive's name.
type kind uint8

const (
	bare   kind = iota // no value
	count              // an integer, -1 for no limit
	size               // one of imagePreviews
	moment             // a date, see parseDate
)

// word is one row of the vocabulary.
type word struct {
	name string
	kind kind
	bit  set
	sets set    // its own bit, and those of the directives that it includes
	doc  string // URL of its documentation
}

const (
	googleDoc = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
	bingDoc   = "https://www.bing.com/webmasters/help/which-robots-metatags-does-bing-support-5198d240"
	bingChat  = "https://blogs.bing.com/webmaster/september-2023/Announcing-new-options-for-webmasters-to-control-usage-of-their-content-in-Bing-Chat"
	yandexDoc = "https://yandex.com/support/webmaster/controlling-robot/meta-robots.html"
	deviant   = "https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371"
)

// vocabulary lists all known directives, in the order in which they are
// printed: first those about the use of a page, then those about how it is
// shown.
var vocabulary = []word{
	{"all", bare, all, all, googleDoc},
	{"index", bare, index, index, bingDoc},
	{"follow", bare, follow, follow, bingDoc},
	{"archive", bare, archive, archive, yandexDoc},
	{"none", bare, none, none | noindex | nofollow, googleDoc},
	{"noindex", bare, noindex, noindex, googleDoc},
	{"nofollow", bare, nofollow, nofollow, googleDoc},
	{"noarchive", bare, noarchive, noarchive, bingDoc},
	{"nocache", bare, nocache, nocache, bingChat},
	{"nosnippet", bare, nosnippet, nosnippet, googleDoc},
	{"indexifembedded", bare, indexifembedded, indexifembedded, googleDoc},
	{"max-snippet", count, maxSnippet, maxSnippet, googleDoc},
	{"max-image-preview", size, maxImagePreview, maxImagePreview, googleDoc},
	{"max-video-preview", count, maxVideoPreview, maxVideoPreview, googleDoc},
	{"notranslate", bare, notranslate, notranslate, googleDoc},
	{"noimageindex", bare, noimageindex, noimageindex, googleDoc},
	{"nositelinkssearchbox", bare, nositelinkssearchbox, nositelinkssearchbox, googleDoc},
	{"nopagereadaloud", bare, nopagereadaloud, nopagereadaloud, "https://developers.google.com/search/docs/crawling-indexing/google-read-aloud"},
	{"unavailable_after", moment, unavailableAfter, unavailableAfter, googleDoc},
	{"noai", bare, noai, noai, deviant},
	{"noimageai", bare, noimageai, noimageai, deviant},
	// No crawler reads these any more, but many pages still have them.
	{"noodp", bare, noodp, noodp, bingDoc},
	{"noydir", bare, noydir, noydir, "https://help.yahoo.com/kb/search-for-desktop/SLN2256.html"},
	{"noyaca", bare, noyaca, noyaca, yandexDoc},
}

// vocabularyByName finds a row by its lower-case name.
var vocabularyByName = func() map[string]*word {
	byName := make(map[string]*word, len(vocabulary))
	for i := range vocabulary {
		byName[vocabulary[i].name] = &vocabulary[i]
	}
	return byName
}()

// contradictions are pairs of directives that exclude each other. Google
// applies the more restrictive one, Yandex the more permissive one.
var contradictions = []struct{ permissive, restrictive set }{
	{all, noindex},
	{all, nofollow},
	{index, noindex},
	{follow, nofollow},
	{archive, noarchive},
}

// imagePreviews are the values of max-image-preview, the most restrictive
// first.
var imagePreviews = []string{"none", "standard", "large"}

// Names returns the names of all known directives, in the order in which String
// prints them.
func Names() []string {
	names := make([]string, len(vocabulary))
	for i, w := range vocabulary {
		names[i] = w.name
	}
	return names
}

// lookup finds a directive by its name, in any case.
func lookup(name string) *word {
	if w := vocabularyByName[name]; w != nil {
		return w
	}
	if len(name) > len("nositelinkssearchbox") {
		return nil
	}
	return vocabularyByName[strings.ToLower(name)]
}

// named returns the names of the directives in s, for an error message.
func (s set) named() string {
	var names []string
	for _, w := range vocabulary {
		if s&w.bit != 0 {
			names = append(names, w.name)
		}
	}
	return strings.Join(names, ", ")
}

// unknown returns the error for a word that is not a directive. It suggests the
// nearest directive if one is near.
func unknown(found string) error {
	if near := nearest(found, slices.Values(Names())); near != "" {
		return fmt.Errorf("unknown directive %q; did you mean %q?", clip(found), near)
	}
	return fmt.Errorf("unknown directive %q; known are %s", clip(found), strings.Join(Names(), ", "))
}

// clip shortens untrusted input for error messages.
func clip(s string) string {
	const limit = 80
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
