package headers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
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
	noml
	noodp
	noydir
	noyaca
	nopreview
	notranscode
	noimageclick
)

// kind is the kind of the value after the name of a directive.
type kind uint8

const (
	noValue     kind = iota // no value
	numberValue             // a whole number, -1 for no limit
	sizeValue               // one of imagePreviews
	dateValue               // a date (see parseDate)
)

// word is one row of the vocabulary.
type word struct {
	name string
	kind kind
	bit  set
	sets set    // its bit, and the bits of the directives that it includes
	doc  string // URL of its documentation; "" if its reader no longer has any
}

const (
	googleDoc = "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag"
	bingDoc   = "https://www.bing.com/webmasters/help/which-robots-metatags-does-bing-support-5198d240"
	bingChat  = "https://blogs.bing.com/webmaster/september-2023/Announcing-new-options-for-webmasters-to-control-usage-of-their-content-in-Bing-Chat"
	yandexDoc = "https://yandex.com/support/webmaster/controlling-robot/meta-robots.html"
	deviant   = "https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371"
)

// vocabulary lists all known directives, in the order in which String prints
// them.
var vocabulary = []word{
	{"all", noValue, all, all, googleDoc},
	{"index", noValue, index, index, bingDoc},
	{"follow", noValue, follow, follow, bingDoc},
	{"archive", noValue, archive, archive, yandexDoc},
	{"none", noValue, none, none | noindex | nofollow, googleDoc},
	{"noindex", noValue, noindex, noindex, googleDoc},
	{"nofollow", noValue, nofollow, nofollow, googleDoc},
	{"noarchive", noValue, noarchive, noarchive, bingDoc},
	{"nocache", noValue, nocache, nocache, bingChat},
	{"nosnippet", noValue, nosnippet, nosnippet, googleDoc},
	{"indexifembedded", noValue, indexifembedded, indexifembedded, googleDoc},
	{"max-snippet", numberValue, maxSnippet, maxSnippet, googleDoc},
	{"max-image-preview", sizeValue, maxImagePreview, maxImagePreview, googleDoc},
	{"max-video-preview", numberValue, maxVideoPreview, maxVideoPreview, googleDoc},
	{"notranslate", noValue, notranslate, notranslate, googleDoc},
	{"noimageindex", noValue, noimageindex, noimageindex, googleDoc},
	{"nositelinkssearchbox", noValue, nositelinkssearchbox, nositelinkssearchbox, googleDoc},
	{"nopagereadaloud", noValue, nopagereadaloud, nopagereadaloud,
		"https://developers.google.com/search/docs/crawling-indexing/google-read-aloud"},
	{"unavailable_after", dateValue, unavailableAfter, unavailableAfter, googleDoc},
	{"noai", noValue, noai, noai, deviant},
	{"noimageai", noValue, noimageai, noimageai, deviant},
	{"noml", noValue, noml, noml, "https://noml.info/"}, // by Mojeek
	// No crawler reads the following directives any more, but many pages still
	// have them.
	{"noodp", noValue, noodp, noodp, bingDoc},
	{"noydir", noValue, noydir, noydir, "https://help.yahoo.com/kb/search-for-desktop/SLN2256.html"},
	{"noyaca", noValue, noyaca, noyaca, yandexDoc},
	{"nopreview", noValue, nopreview, nopreview, "https://learn.microsoft.com/en-us/archive/blogs/searchblog/bing-seo-disable-hover-document-preview"},
	{"notranscode", noValue, notranscode, notranscode, ""},
	{"noimageclick", noValue, noimageclick, noimageclick, ""},
}

// vocabularyByName has the rows by their names.
var vocabularyByName = func() map[string]*word {
	byName := make(map[string]*word, len(vocabulary))
	for i := range vocabulary {
		byName[vocabulary[i].name] = &vocabulary[i]
	}
	return byName
}()

// contradictions are pairs of directives that contradict each other. Google
// applies the more restrictive one, Yandex the more permissive one.
var contradictions = []struct{ permissive, restrictive set }{
	{all, noindex},
	{all, nofollow},
	{index, noindex},
	{follow, nofollow},
	{archive, noarchive},
}

// overridden returns the directives that those in s override: the permissive
// ones that contradict them, and max-snippet for nosnippet.
func (s set) overridden() (o set) {
	for _, c := range contradictions {
		if s&c.restrictive != 0 {
			o |= c.permissive
		}
	}
	if s&nosnippet != 0 {
		o |= maxSnippet
	}
	return o
}

// imagePreviews are the values of max-image-preview, the most restrictive
// first.
var imagePreviews = []string{"none", "standard", "large"}

// lookup finds a directive by its name, ignoring case. It returns nil if there
// is none.
func lookup(name string) *word {
	if w := vocabularyByName[name]; w != nil {
		return w
	}
	if len(name) > len("nositelinkssearchbox") {
		return nil
	}
	return vocabularyByName[strings.ToLower(name)]
}

// names returns the names of the directives in s, for error messages.
func (s set) names() string { return strings.Join(s.list(), ", ") }

// list returns the names of the directives in s, in the order in which String
// prints them.
func (s set) list() (names []string) {
	for _, w := range vocabulary {
		if s&w.bit != 0 {
			names = append(names, w.name)
		}
	}
	return names
}

// known is the set of all directives.
const known = ^set(0)

// unknownDirective returns the error for a word that is not a directive. It
// suggests a directive with a similar name, if there is one.
func unknownDirective(found string) error {
	if near := editdistance.Nearest(found, slices.Values(known.list())); near != "" {
		return fmt.Errorf("unknown directive %q; did you mean %q?", clip(found), near)
	}
	return fmt.Errorf("unknown directive %q; known are %s", clip(found), known.names())
}

// clip shortens untrusted input for error messages.
func clip(s string) string {
	const limit = 80
	if len(s) > limit {
		return s[:limit] + "…"
	}
	return s
}
