package headers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// set is a set of directives, one bit for each word of the vocabulary, in its order.
type set uint32

// The directives that have a meaning here. Others are only read and written.
const (
	all set = 1 << iota
	index
	follow
	archive
	none
	noindex
	nofollow
	noarchive
	nosnippet
	indexifembedded
	maxSnippet
	maxImagePreview
	maxVideoPreview
	unavailableAfter
)

// vocabulary lists all known directives, in the order in which String prints them.
// Their documentation:
//   - https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
//   - https://developers.google.com/search/docs/crawling-indexing/google-read-aloud (nopagereadaloud)
//   - https://www.bing.com/webmasters/help/which-robots-metatags-does-bing-support-5198d240 (index, follow, noarchive)
//   - https://blogs.bing.com/webmaster/september-2023 (nocache, for Bing Chat)
//   - https://yandex.com/support/webmaster/controlling-robot/meta-robots.html (archive)
//   - https://www.deviantart.com/team/journal/UPDATE-All-Deviations-Are-Opted-Out-of-AI-Datasets-934500371 (noai, noimageai)
//   - https://noml.info (noml, read by Mojeek)
//   - https://help.yahoo.com/kb/search-for-desktop/SLN2256.html (noydir)
//   - https://learn.microsoft.com/en-us/archive/blogs/searchblog/bing-seo-disable-hover-document-preview (nopreview)
//
// The last six are on many sites, and nobody reads them any more.
var vocabulary = [...]string{
	"all", "index", "follow", "archive", "none", "noindex", "nofollow", "noarchive", "nosnippet", "indexifembedded",
	"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after",
	"nocache", "notranslate", "noimageindex", "nositelinkssearchbox", "nopagereadaloud", "noai", "noimageai", "noml",
	"noodp", "noydir", "noyaca", "nopreview", "notranscode", "noimageclick",
}

// lookup finds a directive by its name, ignoring case. It returns 0 if there is none.
func lookup(name string) set {
	if i := slices.Index(vocabulary[:], strings.ToLower(name)); i >= 0 {
		return 1 << i
	}
	return 0
}

// contradictions are pairs of directives that contradict each other. Google
// applies the more restrictive one, Yandex the more permissive one.
var contradictions = []struct{ permissive, restrictive set }{
	{all, noindex | nofollow},
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

// names returns the names of the directives in s, in the order in which String
// prints them.
func (s set) names() (names []string) {
	for i, name := range vocabulary {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// unknownDirective returns the error for a word that is not a directive. It
// suggests a directive with a similar name, if there is one.
func unknownDirective(found string) error {
	if near := editdistance.Nearest(found, slices.Values(vocabulary[:])); near != "" {
		return fmt.Errorf("unknown directive %.80q; did you mean %q?", found, near)
	}
	return fmt.Errorf("unknown directive %.80q; known are %s", found, strings.Join(vocabulary[:], ", "))
}
