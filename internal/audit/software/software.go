// Package software knows software of web sites by its paths: how to recognise it in a
// log, and which of its paths are expensive and have nothing that people look for.
//
//	r := software.NewRecogniser()
//	r.Note("/ann/app/src/branch/main/x.go")
//	r.Note("/explore/repos")
//	fmt.Println(r.What("/*/*/blame/*")) // Forgejo or Gitea: blame pages
package software

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Software is known software.
type Software struct {
	Name string
	// Paths are the expensive paths.
	Paths []Path
	// signs are patterns of paths that the software has. With answers for at least
	// minSigns of them, it is recognised.
	signs []string
}

// Path is a kind of pages that one change can be for.
type Path struct {
	Name     string
	Patterns []string // in robots.txt syntax
}

// All are data: each row is one software. Its last comment says where the facts are from.
var All = []Software{
	{
		Name:  "Forgejo or Gitea",
		signs: []string{"/*/*/src/branch/", "/*/*/commit/", "/explore/repos", "/user/login", "/assets/js/index.js"},
		Paths: []Path{
			{"blame pages", []string{"/*/*/blame/"}}, {"archives", []string{"/*/*/archive/"}}, {"comparisons", []string{"/*/*/compare/"}},
			{"lists of commits", []string{"/*/*/commits/"}}, {"commits", []string{"/*/*/commit/"}},
			{"files at a commit", []string{"/*/*/src/commit/"}},
			{"raw files at a commit", []string{"/*/*/raw/commit/"}}, {"code search", []string{"/*/*/search"}},
			{"activity", []string{"/*/*/activity"}},
			{"sorted lists", Param("sort")}, {"lists by language", Param("lang")},
		},
		// https://github.com/go-gitea/gitea/issues/17341
		// https://docs.gitea.com/administration/search-engines-indexation
	},
	{
		Name:  "MediaWiki",
		signs: []string{"/*index.php?title=", "/*load.php?", "/wiki/", "/*api.php", "/*Special:"},
		Paths: []Path{
			{"old revisions", Param("oldid")}, {"differences", Param("diff")}, {"actions, such as history", Param("action")},
			{"special pages", []string{"/*Special:", "/*title=Special"}}, {"printable pages", Param("printable")},
			{"pages by number", Param("curid")},
		},
		// https://www.mediawiki.org/wiki/Manual:Robots.txt
	},
	{
		Name:  "DSpace",
		signs: []string{"/server/api/", "/handle/*/", "/bitstreams/*/download", "/items/", "/communities/"},
		Paths: []Path{
			{"search", []string{"/search"}}, {"browse lists", []string{"/browse/"}}, {"search", []string{"/*/search"}},
			{"browse lists", []string{"/*/browse/"}},
			{"search by the API", []string{"/server/api/discover/"}}, {"statistics", []string{"/statistics"}},
			{"filtered lists", []string{"/entities/*?f"}},
			{"filtered lists", []string{"/collections/*?f"}}, {"pages of lists", []string{"/communities/*?spc.page"}},
		},
		// https://github.com/DSpace/dspace-angular/blob/main/src/robots.txt.ejs
	},
	{
		Name:  "WooCommerce",
		signs: []string{"/wp-content/plugins/woocommerce/", "/*wc-ajax=", "/product/", "/cart/", "/checkout/"},
		Paths: []Path{
			{"links that fill the cart", Param("add-to-cart")}, {"sorted lists", Param("orderby")},
			{"filtered lists", []string{"/*?filter_", "/*&filter_"}},
			{"lists by price", []string{"/*?min_price=", "/*&min_price=", "/*?max_price=", "/*&max_price="}},
			{"lists by rating", Param("rating_filter")},
			{"links that fill the wish list", Param("add_to_wishlist")},
		},
		// https://closte.com/blog/prevent-robots-crawling-add-to-cart-links-on-woocommerce
	},
	{
		Name:  "cgit",
		signs: []string{"/*cgit.css", "/*cgit.png", "/*/tree/", "/*/log/", "/*/refs/", "/*/commit/?id="},
		Paths: []Path{
			{"archives", []string{"/*/snapshot/"}}, {"blame pages", []string{"/*/blame/"}}, {"differences", []string{"/*/diff/"}},
			{"patches", []string{"/*/patch/"}},
			{"differences", []string{"/*/rawdiff/"}}, {"raw files", []string{"/*/plain/"}}, {"lists of commits", []string{"/*/log/"}},
			{"statistics", []string{"/*/stats/"}},
			{"pages of a commit", Param("id")}, {"pages of a branch", Param("h")},
		},
		// https://serverfault.com/questions/506613/ideal-robots-txt-for-a-gitweb-installation
	},
}

// Param returns the patterns for a parameter of a query: it is the first one, or
// another one.
func Param(name string) []string { return []string{"/*?" + name + "=", "/*&" + name + "="} }

// GroupOf returns a group of robots.txt that disallows patterns.
func GroupOf(patterns ...string) *robots.Group {
	return robots.ParseText("User-agent: *\nDisallow: " + strings.Join(patterns, "\nDisallow: ") + "\n").Star()
}

// Matches reports whether a group of GroupOf has a pattern for a target.
func Matches(g *robots.Group, target string) bool { return !g.Match(target).Allowed }

// minSigns is the number of signs that recognise software.
const minSigns = 2

// Recogniser finds out which software a site has.
type Recogniser struct {
	unseen [][]*robots.Group // the signs that were not seen yet, in the order of All
}

// NewRecogniser returns a Recogniser that has seen nothing.
func NewRecogniser() *Recogniser {
	r := &Recogniser{make([][]*robots.Group, len(All))}
	for i, s := range All {
		for _, sign := range s.signs {
			r.unseen[i] = append(r.unseen[i], GroupOf(sign))
		}
	}
	return r
}

// Note notes a request that was answered with a page or a file.
func (r *Recogniser) Note(target string) {
	for i, signs := range r.unseen {
		r.unseen[i] = slices.DeleteFunc(signs, func(g *robots.Group) bool { return Matches(g, target) })
	}
}

// Recognises reports whether the site has the software at an index of All.
func (r *Recogniser) Recognises(i int) bool { return len(r.unseen[i])+minSigns <= len(All[i].signs) }

// What returns what the pages at a path are: the recognised software, and the name of
// its expensive path. It returns "" for other paths.
func (r *Recogniser) What(target string) string {
	for i, s := range All {
		for _, p := range s.Paths {
			if r.Recognises(i) && Matches(GroupOf(p.Patterns...), target) {
				return s.Name + ": " + p.Name
			}
		}
	}
	return ""
}
